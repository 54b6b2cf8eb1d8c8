"""The ledger: an append-only, durable, verifiable log of events; it knows no rules."""
