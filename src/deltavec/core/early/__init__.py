"""What a process does before the compiler is loaded, which a short one never waits for."""
