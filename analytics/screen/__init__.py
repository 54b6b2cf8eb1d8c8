"""Millions of hands at once: a screen over columns of records; its doubts are the engine's.

Nothing here counts for a report: it says fine, doubtful, or not judged.
"""
