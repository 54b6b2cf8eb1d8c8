"""Replay of recorded hands in lock-step: every hand's n-th action at once, and what it faced.

The record is believed here; `batch_audit/` checks it against the rules.
"""
