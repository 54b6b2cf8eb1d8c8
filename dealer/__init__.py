"""Who makes it happen: shuffles, bots, and the hands they play; no rules and no store."""
