"""Matches into a ledger: recorded as they are played, by our own bots, live or over the wire.

The dealer plays them; here they are written, logged and explained.
"""
