"""The explorer's files, and the addresses they are served at."""
