"""What did happen: append-only, durable, verifiable; no rules."""
