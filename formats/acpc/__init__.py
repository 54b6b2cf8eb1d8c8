"""Logs of computer poker: of the ACPC dealer, of Pluribus, of DeepStack; in and out."""
