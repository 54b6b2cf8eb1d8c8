"""How the ledger is asked in SQL: views for our own questions, processes for strangers'.

Nothing here writes to a ledger, and no question of poker stands here.
"""
