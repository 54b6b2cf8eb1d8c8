"""How one opponent plays: tables of his choices and ends, measures over them, and the report."""
