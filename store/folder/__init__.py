"""What every file of a ledger goes by: durable writes, frames, MACs, the lock, the manifest.

Nothing here knows what an event is, or what a file is for.
"""
