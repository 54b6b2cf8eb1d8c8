"""Viewpoints: the ledger as a viewer may see it, what is withheld from him, masks, and redacted
records.

No question is answered here; whatever a door shows has passed here first.
"""
