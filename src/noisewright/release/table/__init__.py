"""Tables before the last stage: which groups may be listed, and what may be done to rows.

- keys: the groups of an answer, listed or chosen privately
- kinds: which values may be compared with each other, and which constants every engine can write
- person_local: the check of relations: whoever is left out changes nobody else's rows
- total_functions: the functions of a row that are total, each with its reason
"""
