"""Search on judged collections: how good are rankings by words, by meaning and by both."""
