"""Reports to hand to a board: one page of HTML each, with everything inside and no script at all.

- style: how every page looks: on a screen, in the dark, on a phone, on paper
- blocks: a page and what it is made of, everything escaped
- charts: pictures that follow the colours of the page, each with its text
- sections: what is promised, in words, odds and a picture; how far off answers are
- embedded: the saved content inside a page, and how it is read back
- designs, plans, ledgers: what the page of each thing says
- writing: the page of whatever is asked for, written to a file
"""
