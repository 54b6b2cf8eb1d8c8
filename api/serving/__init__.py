"""The application: its layers around the routes, and the server that runs it."""
