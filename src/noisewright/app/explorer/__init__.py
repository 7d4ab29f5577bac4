"""The explorer: a page on this machine to play with a question, its privacy and its accuracy.

- form: the form as data, and from its fields to the library's words
- finding, noise, looking: designs for an accuracy or an amount, what their noise looks like, one look at the page
- pictures, fragments, recipes: axes and SVG, panels of HTML, the same to copy
- worker, lanes: a process that computes, and the queue before it
- server, page: who may ask, what is answered, how it starts and ends; the page
"""
