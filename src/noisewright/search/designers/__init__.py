"""One file for each row of the table of questions: what it proposes, what bounds it, what is worth a remark."""
