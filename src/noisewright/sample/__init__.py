"""The only randomness: entropy, exact samplers, and the certified mechanisms they serve."""
