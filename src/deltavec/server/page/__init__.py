"""The explorer page: its files and their addresses."""
