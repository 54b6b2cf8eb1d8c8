"""Bots that live in processes of their own and speak the protocol of MIT Pokerbots."""
