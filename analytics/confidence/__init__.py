"""How sure a number is: intervals, bootstraps, p-values, differences.

Nothing here knows poker or the ledger.
"""
