"""The loops that must be fast, compiled by numba: bytes in, ids, counts or vectors out.

How a word is found
-------------------
`scan` walks over the bytes of a word once. It replaces each by its lower case and packs eight of
them at a time into one integer, which a multiplicative hash mixes. `scan_blocks` does the same for
64 bytes at a time, before it looks at their words one by one, and leaves to `scan` what it meets
rarely; `scan_documents` has each do its part. For a word of at most eight
bytes every step of that hash can be undone, so equal hashes and equal lengths mean equal words, and
its bytes are never compared; a longer word is compared with the vocabulary byte by byte. The hash
begins with a number that each process draws anew, so that no text can choose words that meet in one
slot; ids depend on the order of words, never on their slots. The table of slots is open addressing
with linear steps: slot s is the pair of integers ``slots[2 * s]``, the hash, and ``slots[2 * s +
1]``, the length (upper half) and the id + 1 (lower half; 0 means empty).

Bytes beyond ASCII pass through that loop as they are. If what stands between two ASCII separators
is, byte for byte, a word of the vocabulary that the rule reads as it is written, then it is that
word, and nothing is decoded. Only what is not found so (a capital, a separator or a mark of
another script, an unknown word) is decoded character by character. The highest bit of the length
is set for words that the rule does not read as they are written: the look-up before decoding
passes them by. A long stretch that was decoded once is decoded to its end: looked up from each of
its separators on, it would be read over and over.

How other units are found
-------------------------
Where a script puts no spaces between words, `scan` hands over to `scan_unspaced`, which finds each
character, and each with the next, until the run of them ends. Where the rule counts character
n-grams, `scan_ngrams` takes its place: it spells one word at a time and looks its n-grams up. Both
may have to stop within a word; the place that they give says where, and only they read it: below
zero, `~position` is that of a character that was found, and the pair that it begins was not; from
`WITHIN_WORD` on, so many units of the word at the position below were found.

Why the results do not depend on threads or batches
---------------------------------------------------
A document's vector is computed by one thread from that document alone, its words in the order in
which they first occur. Counts are integers. Threads share nothing that they write.

Why there are few kernels, and small ones
-----------------------------------------
numba compiles a kernel once for each combination of types, and again, as machine code, into each
kernel that calls it. So the tokenizer is called from Python only (`deltavec.core.tokens`), it
writes ids, and small kernels make counts and vectors of them. All arrays that are only read arrive
read-only, integers that start at 0 start as ``signed(0)``, and a loop that most texts do not need
is chosen by the length of a tuple, which numba knows before it compiles.
"""
