"""How laws answer a query: a mechanism maps a true answer to the law of the released one."""
