"""Logs of computer poker: of the ACPC dealer, of Pluribus, of DeepStack; in and out."""

from formats.acpc.definitions import Definition, defined
from formats.acpc.read import read
from formats.acpc.write import write

__all__ = ["Definition", "defined", "read", "write"]
