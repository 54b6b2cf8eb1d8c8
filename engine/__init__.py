"""What may happen: the rules of every game, pure."""
