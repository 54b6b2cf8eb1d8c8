"""A fast, vectorised audit of recorded hands; the engine judges again those that it doubts.

Nothing here counts for a report: it says fine, doubtful, or not judged.
"""
