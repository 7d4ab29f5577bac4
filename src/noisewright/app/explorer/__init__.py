"""The explorer: a page on this machine to play with a question, its privacy and its accuracy.

- entries, asked: the form as data; from its fields to the library's words
- finding, noise, looking: designs for an accuracy or an amount, what their noise looks like, one look at the page
- tables: the plan of a spec file
- scales, pictures, fragments, recipes: axes, SVG, panels of HTML, the same to copy
- worker, lanes: a process that computes, and the queue before it
- guards, server, page, serving: who may ask, what is answered, the page, and how it starts and ends
"""
