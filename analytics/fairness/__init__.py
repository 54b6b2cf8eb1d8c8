"""Whether cards were dealt as chance alone would deal them.

Counts of cards and p-values; no player's skill is measured here.
"""
