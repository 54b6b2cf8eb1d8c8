"""Questions that many processes answer together, on this machine or on Spark's.

Here live the tasks that a ledger is cut into, what a worker does of one, and who hands them out.
How something is judged, shown or counted lies elsewhere: a worker runs the same code as one
machine does, on fewer hands.
"""
