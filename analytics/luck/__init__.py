"""What each card did to each player, street by street, and values that were counted before."""
