"""Who may see what: a viewpoint, what is withheld from it, masks, and records as it sees them.

No question is answered here; whatever a door shows has passed here first.
"""
