"""The command line, the explorer and the pages to hand over: parse, call, show.

- cli: the commands, one file each, and what they share
- spec, expressions: spec files in TOML; conditions on a row, and derived columns, as text
- answer_table: released answers as a table, as files and as a picture
- reports: pages to hand over, of designs, mechanisms, plans, releases and ledgers
- explorer: the page that `noisewright explore` serves
"""
