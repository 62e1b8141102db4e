"""Documents by their words: which documents hold each word, and what it says about them."""
