"""The command line: parse, call, show.

- cli: commands by name
- designing, linear, workload, composing, sweep, saved, reproducing, ledgers: the commands
- releasing, beginning: `plan`, `release`, `bounds` and `init`, the commands over tables
- specs, reading, datasets: spec files in TOML, and the dataset that one describes
- conditions, expressions: conditions on a row, and derived columns, as text
- scanning, tidy, pictures: a bar for long scans; answers as text and files; a picture of them
- reports: pages to hand over, of designs, mechanisms, plans, releases and ledgers
- options, questions, answers: from options to the library's words
- exploring, explorer: the command `explore`, and the page that it serves
- papers, paper_page, paper_style: several reproductions at once, and their page
- output: what is written; exit codes, errors in one line
"""
