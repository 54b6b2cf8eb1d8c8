"""Who may ask: the command line today; it joins rooms that may not meet, and nothing imports it."""
