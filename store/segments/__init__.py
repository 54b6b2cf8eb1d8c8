"""Sealed segments: closed hands in Parquet files, written once, read, merged, brought up to date.

SQL is not asked here, and nothing that is still open is read.
"""
