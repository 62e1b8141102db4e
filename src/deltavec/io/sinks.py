"""Deprecated: moved to `deltavec.io.output.embed_to_file`; this name goes with the next release."""

from deltavec.io.output.embed_to_file import embed_to_file

__all__ = ["embed_to_file"]
