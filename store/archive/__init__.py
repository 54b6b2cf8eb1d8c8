"""A ledger's sealed files in object storage or in a folder: sent there, fetched, read in place.

Nothing here writes to a ledger but `pull`, and no secret of `private/` passes through here.
"""
