"""VPIP and its like: the catalogue of statistics, how they are counted over facts, and how two
players differ in them.

Bids, luck and reports on one opponent have rooms of their own.
"""
