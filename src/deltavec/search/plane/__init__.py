"""Rows in two dimensions, those near each other that are near among all."""
