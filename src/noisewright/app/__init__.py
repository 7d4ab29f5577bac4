"""The command line: parse, call, show.

- cli, outcome: commands by name; exit codes, errors in one line
- designing, linear, budgeting, sweeping, saved, reproducing: the commands
- options, questions, queries, answers: from options to the library's words
- output, sweep, sweep_plot: what is written
"""
