"""The command line: parse, call, show.

- cli: commands by name
- designing, linear, workload, composing, sweep, saved, reproducing, ledgers: the commands
- options, questions, answers: from options to the library's words
- papers, paper_page, paper_style: several reproductions at once, and their page
- output: what is written; exit codes, errors in one line
"""
