"""What others wrote down: foreign hand histories, in and out."""
