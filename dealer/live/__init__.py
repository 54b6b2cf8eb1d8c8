"""A table that is played in real time: players who answer when they like, clocks, chairs."""
