"""Reports to hand to a board: one page of HTML each, with everything inside and no script at all.

- blocks: a page and what it is made of, from the folder of templates, which escape everything and hold the look
- charts: pictures that follow the colours of the page, each with its text
- sections: what is guaranteed, in words, odds and a picture; how far off answers are
- embedded: the saved content inside a page, and how it is read back
- designs, plans, ledgers: what the page of each thing says
- writing: the page of whatever is asked for, written to a file
"""
