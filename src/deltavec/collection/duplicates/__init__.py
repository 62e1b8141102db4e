"""Text reuse within a collection and against another corpus."""
