"""The best member of a family of noise for a problem."""
