"""How well players bid: measures over auctions, what the third card was worth, sniffed bids."""
