"""Results of players: the winnings curve, and net by part, rake and luck by street."""
