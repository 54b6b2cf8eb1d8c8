"""What each card did to each player, street by street."""
