"""Approximate search: rows in lists of like ones, and only the nearest lists looked through."""
