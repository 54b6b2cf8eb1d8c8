"""Audits of recorded hands: of one by the engine, of a ledger in batches, as a report and a table.

Who may see an audit is decided elsewhere.
"""
