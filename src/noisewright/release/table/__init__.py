"""Tables: what is given as one, where its rows are, which groups may be listed, and what may be done to rows.

- sources, public: a source becomes a table of the engine it belongs to; public tables that keys are listed from
- keys: the groups of an answer, listed or chosen privately
- locations: where the rows of a table are, whatever it is called
- frames, names: frames in memory, given and given back; names of columns that an engine takes for one
- kinds: which values may be compared with each other, and which constants every engine can write
- person_local: the check of relations: whoever is left out changes nobody else's rows
- total_functions: the functions of a row that are total, each with its reason
"""
