"""What was appended and is not yet sealed: calls in frames, group commit, the watermark.

Nothing here knows of Parquet or of the tree; whatever closes leaves it as a leaf.
"""
