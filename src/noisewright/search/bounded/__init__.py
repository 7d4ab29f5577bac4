"""Design of answers that stay in bounds and are right on average."""
