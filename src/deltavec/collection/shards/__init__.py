"""Several collections searched as one."""
