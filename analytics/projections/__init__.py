"""Projections: tables that are made from a ledger's events under the rulesets of its hands.

`facts.ruleset_projections` lists them; the rooms above ask questions of them.
"""
