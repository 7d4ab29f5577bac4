"""Probability laws as frozen data; each formula runs in floats or in balls."""
