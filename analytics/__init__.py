"""What it meant: facts, questions, batch audits. Nothing is asked here yet."""
