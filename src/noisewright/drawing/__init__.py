"""One look for every picture of the project; it knows figures and no mathematics.

- style: palette, marks, font and sizes; a new picture, a finished and a saved one; what it shows, said in text
- legends: one legend outside the axes, one look for each name in all panels
"""
