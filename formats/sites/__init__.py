"""Hand histories of single sites, each with lines of its own, put to the rules by one way."""
