"""The log of appends before they are sealed: calls in frames, group commit, the watermark.

Nothing here knows of Parquet or of the tree; whatever closes leaves it as a leaf.
"""
