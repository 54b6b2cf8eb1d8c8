"""The SQL files, one question each, asked of `chosen`, the rows that filters leave.

No number is judged here, and no event is looked at.
"""
