"""Long work that somebody asked for: kept in files, done by a process of its own."""
