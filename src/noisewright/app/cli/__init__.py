"""The command line.

- commands: every command by its name, and one place where errors become one line
- init, release: `init`; `plan`, `release` and `bounds`, the commands over tables
- design, sweep, linear, workload: `design` and `budget`; one question over many epsilons; linear questions
- compose, ledger: plans added up; the commands on a ledger
- saved: `verify`, `describe`, `explain` and `answer`
- explore, reproduce: the explorer; the papers, several at once
- options, questions, true_answers: what is typed, and from it to the library's words
- output: what is written; exit codes, errors in one line
"""

from noisewright.app.cli.commands import main as main
