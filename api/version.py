"""Which muckrake this is, as commands, pages, OpenAPI and logs tell it."""

VERSION = "0.1.0"
