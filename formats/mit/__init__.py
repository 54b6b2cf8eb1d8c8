"""Gamelogs of the MIT Pokerbots engines: Swap of 2022, River of Blood of 2023, Auction of 2024."""
