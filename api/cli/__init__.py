"""One file a command; `api.main` imports the one that is asked for, and no other."""
