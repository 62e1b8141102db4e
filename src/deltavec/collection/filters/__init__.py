"""What a filter says, and which documents it lets through."""
