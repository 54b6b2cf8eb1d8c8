"""Decisions: one row for every choice of a seat, and what it faced.

Made from event columns in lock-step; the record is believed. The events of a viewpoint give the
decisions as that viewpoint knows them. No question is answered here.
"""
