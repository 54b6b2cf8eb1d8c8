"""Rulesets of hands on their way in: facts are made of such hands before the ledger keeps these."""

HEARD: dict[str, bytes] = {}  # a text by its fingerprint, in the process that reads the hands
