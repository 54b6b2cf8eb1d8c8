"""Tables that are kept beside a ledger's events and need its rules; `facts.stored` lists them.

A row of each and how it is made; what is asked of them stands in the rooms of the questions.
"""
