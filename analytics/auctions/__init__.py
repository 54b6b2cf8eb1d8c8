"""Auctions: measures of bids, what the third card was worth, tests for sniffed bids."""
