"""A ledger in somebody's Spark session: its tables as views, and the verdicts on its hands."""

from api.cluster.spark import verdicts as audit
from api.cluster.spark import views

__all__ = ["audit", "views"]
