"""Reports to hand to a board: one page of HTML each, with everything inside and no script at all.

- style: how every page looks: on a screen, in the dark, on a phone, on paper
- blocks: a page and what it is made of, everything escaped
- charts: pictures that follow the colours of the page, each with its text
- promise: what is promised, in plain words, odds and a picture of them
- embedded: the saved content inside a page, and how it is read back
- errors_shown: how far off answers are: laws of the error, and what the usual noise would do
- designs, mechanisms, plans, ledgers: what the page of each thing says
- writing: the page of whatever is asked for, written to a file
"""
