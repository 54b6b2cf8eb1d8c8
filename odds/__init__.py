"""Hand ranks, ranges and equity."""
