"""Who vouches for the ledger: the tree, its checkpoints and receipts, keys, notes and witnesses.

Digests and signatures only: no column of an event, no file of a segment is opened here.
"""
