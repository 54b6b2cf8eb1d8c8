"""A ledger's folder: durable writes, frames with MACs, the lock, the manifest.

Nothing here knows what an event is, or what a file is for.
"""
