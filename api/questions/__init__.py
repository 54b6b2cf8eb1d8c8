"""What a viewpoint is answered, whichever door it comes through: command line, HTTP or a page.

No command, no route and no page stands here, and what may be seen is decided in `viewpoints/`.
"""
