"""Two players, or two versions of one, beside each other; and ratings of many."""
