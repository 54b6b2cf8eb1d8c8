"""The command line, the HTTP API and the web pages: they join all other packages."""
