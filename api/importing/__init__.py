"""Foreign files on their way into a ledger: found, read by several processes, appended whole."""
