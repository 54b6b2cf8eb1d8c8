"""Recorded hands in lock-step: every hand's n-th action at once, and what it faced.

The record is believed here; whether the rules agree is the screening's to say.
"""
