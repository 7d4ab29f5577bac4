"""The small independent verifier: a claim is proven in rationals or balls, or refused."""
