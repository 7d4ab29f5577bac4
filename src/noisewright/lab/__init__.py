"""The papers' tables and figures, side by side with ours; no new mathematics."""
