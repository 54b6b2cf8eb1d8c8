"""The HTTP door: routes, who may come in, and in which form he is answered."""
