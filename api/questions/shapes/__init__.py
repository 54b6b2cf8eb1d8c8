"""What the answers about a ledger look like in JSON, as types: `docs/openapi.json` is made of them.

What HTTP answers is held to them by `tests/http/shaped.py`: a member more or less than here fails a
test. Where an answer is written down as one of them (`api.questions.proof`), mypy sees it before.
"""
