"""A batch of worlds stepped at once on all cores: the vector environment."""
