"""Evidence of a hand for outsiders: bundles, the script that verifies them, log witnesses."""
