"""Proofs over a ledger: the Merkle tree, checkpoints, keys, signed notes and witnesses.

Digests and signatures only: no column of an event, no file of a segment is opened here.
"""
