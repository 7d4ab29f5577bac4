"""Tables: what is given as one, where its rows are, and what it says of its columns.

- sources, public: a source becomes a table of an engine; public tables that keys are listed from
- locations: where the rows of a table are, whatever it is called
- frames, names: frames in memory, given and given back; names of columns that an engine takes for one
- progress: how far the queries of a release have come
"""
