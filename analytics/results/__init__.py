"""What players came to: winnings hand by hand, results by parts, the organisers' counters."""
