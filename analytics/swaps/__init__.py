"""What luck did to winnings: swaps, run-outs after the last choice, mirrored deals; equities."""
