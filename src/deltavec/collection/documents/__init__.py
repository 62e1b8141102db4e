"""Files of documents: one module for each form that they are stored in."""
