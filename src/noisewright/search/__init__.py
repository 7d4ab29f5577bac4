"""Finds the best noise. A mistake here may cost accuracy, never privacy."""
