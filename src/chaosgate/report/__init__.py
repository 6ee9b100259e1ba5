"""Reports of a run (an HTML page, Markdown, JUnit XML, JSON), the tables they share, and the comparison of two runs."""
