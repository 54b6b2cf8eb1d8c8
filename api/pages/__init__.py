"""The web pages: made on the server, readable without a script."""
