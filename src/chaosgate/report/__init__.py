"""The report of a run: one self-contained HTML page, and the objectives table that page and terminal share."""
