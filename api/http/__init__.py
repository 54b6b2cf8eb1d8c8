"""The HTTP interface: routes, authentication, limits, and responses in every format."""
