"""PHH, the poker hand history format: `.phh` holds one hand, `.phhs` many; in and out."""
