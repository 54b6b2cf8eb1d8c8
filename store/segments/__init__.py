"""Sealed segments: runs of closed hands in Parquet, written once, read, merged, brought up to date.

SQL is not asked here, and nothing that is still open is read.
"""
