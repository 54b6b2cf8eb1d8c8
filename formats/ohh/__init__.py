"""Open Hand History, the JSON format of hand-history tools."""
