"""Event columns, the one form in which many hands are in memory: from events, from rows, and back.

No file is opened and no rule is asked here.
"""
