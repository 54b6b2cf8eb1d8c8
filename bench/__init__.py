"""How fast it is, measured beside those who do the same: rates, and what divides them."""
