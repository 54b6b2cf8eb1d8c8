"""VPIP and its like: the catalogue of statistics, and how they are counted over facts.

Bids, luck and reports on one opponent have rooms of their own.
"""
