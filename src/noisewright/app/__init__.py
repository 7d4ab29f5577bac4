"""The command line: parse, call, show.

- cli: commands by name
- designing, linear, workload, composing, sweep, saved, reproducing, ledgers: the commands
- releasing, beginning: `plan`, `release` and `init`, the commands over tables
- specs, conditions: spec files in TOML; conditions on a row
- scanning, tidy, pages, pictures: a bar for long scans; answers as text and files; the page with pictures
- options, questions, answers: from options to the library's words
- exploring, explorer: the command `explore`, and the page that it serves
- papers, paper_page, paper_style: several reproductions at once, and their page
- output: what is written; exit codes, errors in one line
"""
