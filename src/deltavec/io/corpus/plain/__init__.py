"""Plain text of parquet pages, unpacked by ourselves."""
