"""Searches before the compiler is loaded."""
