"""The dealer: shuffles, bots, and the hands they play; no rules and no store."""
