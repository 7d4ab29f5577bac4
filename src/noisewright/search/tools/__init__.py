"""Numbers and files, without a word of privacy."""
