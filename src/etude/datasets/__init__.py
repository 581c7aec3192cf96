"""Episodes and trials as files for others to learn from."""
