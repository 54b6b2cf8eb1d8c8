"""A match of foreign bots over the wire: written into the ledger, logged and explained."""
