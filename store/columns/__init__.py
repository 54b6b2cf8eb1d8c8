"""Events in columns and back, and whole hands in columns, in memory.

No file is opened and no rule is asked here.
"""
