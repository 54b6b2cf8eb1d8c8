"""Hands for programs that learn: numbers for what a seat sees, numbers for what it may do."""
