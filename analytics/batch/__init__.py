"""Millions of hands at once: a screen over columns of records; its doubts are the engine's."""
