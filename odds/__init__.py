"""What cards are worth: ranks, equity and counting."""
