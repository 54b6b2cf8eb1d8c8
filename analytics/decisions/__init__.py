"""Decisions: one row for every choice that a seat made, and what it faced when it made it.

Made from event columns in lock-step; the record is believed. The events of a viewpoint give the
decisions as that viewpoint knows them. No question is answered here.
"""
