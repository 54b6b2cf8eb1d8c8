"""Luck in winnings: measures of swaps and run-outs, luck street by street, computed equities."""
