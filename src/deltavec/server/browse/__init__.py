"""What can be looked at without a question: topics, columns, lists, and what colours the map."""
