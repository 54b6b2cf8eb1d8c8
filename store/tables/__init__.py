"""The standard tables, made from events alone: `hands`, `players`, `bids`, `swaps`, `pots`.

A table that needs the rules of its hands is none of them; it lives in `analytics/projections`.
Columns make them, not SQL: DuckDB takes 100 microseconds a hand for all five, columns take 6.
"""
