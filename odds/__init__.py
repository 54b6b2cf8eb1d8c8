"""What cards are worth: ranks, ranges and equity."""
