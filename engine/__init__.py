"""The rules engine: every game as pure functions of events, with the audit of records."""
