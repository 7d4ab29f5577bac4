"""The vocabulary: what is asked, what must be protected, what counts as good, what can go wrong."""
