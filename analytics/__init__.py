"""Statistics, audits and comparisons of many recorded hands; a room for each kind of question."""
