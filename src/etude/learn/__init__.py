"""Learning from demonstrations, with torch (extra ``learn``)."""
