"""The command line: parses what a person typed, calls the library, renders what comes back."""
