"""Which recipe suits a user's own labels: chosen on one half of them, reported on the other."""
