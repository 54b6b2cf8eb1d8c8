"""Records on their way out: what was asked for, as somebody may see it, in a format of others."""
