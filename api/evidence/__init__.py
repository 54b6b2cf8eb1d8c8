"""What proves a hand to somebody who has nothing else of ours: a bundle, and the script in it."""
