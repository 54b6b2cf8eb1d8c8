"""PokerStars hand-history text, read: hold'em, fixed, pot and no limit, cash and tournaments."""
