"""One look for every picture of the project; it knows figures and no mathematics.

- style: the palette, marks, font and sizes, a new picture, a finished one, and a saved one
- legends: one legend outside the axes, one look for each name in all panels
- words: what a picture shows, said in text for those who do not see it
"""
