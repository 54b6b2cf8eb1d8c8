"""Players made of a few lines, by name; each sees what its seat may see, and answers legally."""
