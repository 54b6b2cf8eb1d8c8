"""What a viewpoint is answered, whichever door he comes through: command line, HTTP or a page."""
