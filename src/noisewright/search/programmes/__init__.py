"""Linear and conic programmes: model, solve, repair."""
