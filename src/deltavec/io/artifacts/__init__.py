"""Folders that deltavec writes: manifests, atomic replacement, locks."""
