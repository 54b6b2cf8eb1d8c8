"""The questions: what a viewpoint is answered on the command line, over HTTP and on pages alike.

No command, no route and no page stands here, and what may be seen is decided in `viewpoints/`.
"""
