"""The commands, most in a file of their name; `api.main` imports only the one that is run."""
