"""The web pages: rendered on the server, readable without a script."""
