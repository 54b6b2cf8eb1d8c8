"""What the answers about a ledger look like in JSON, as types: `docs/openapi.json` is made of them.

They are read from the code by mypy where an answer is written down member by member, and held to
what HTTP answers by `tests/http/shaped.py`: a member more or less than here fails a test.
"""
