"""Hand histories of others, read and written: one file or room for each format."""
