"""Gamelogs of the MIT Pokerbots engines: Swap Hold'em of 2022 and Auction Hold'em of 2024."""
