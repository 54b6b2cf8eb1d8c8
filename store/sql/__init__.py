"""SQL over a ledger: views for our own questions, sandboxed processes for untrusted ones.

Nothing here writes to a ledger, and no question of poker stands here.
"""
