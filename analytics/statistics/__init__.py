"""Statistics like VPIP: their catalogue, and how they are counted and computed from facts.

Bids, luck and reports on one opponent have rooms of their own.
"""
