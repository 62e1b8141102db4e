"""What an experiment found, as a page: tables, findings, figures."""
