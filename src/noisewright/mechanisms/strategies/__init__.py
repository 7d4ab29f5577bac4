"""Strategies (the matrix mechanism): integer rows are measured, and the questions answered by least squares.

- strategy: the mechanisms, with Gaussian and with Laplace noise
- rows, filters, tables: what is measured; filters for lines of any length; tables of counts
- values, estimates: what answers cost, question by question, and what noisy rows say
"""
