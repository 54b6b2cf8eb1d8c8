"""Event rows of a ledger as columns of numbers, under everything that counts hands in columns.

No rule is asked here, and nothing is known of what a hand means.
"""
