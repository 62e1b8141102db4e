"""Facts about a collection, and whether its model should be fitted anew.

Added documents use the model as it is. As their text drifts away from the fitting corpus, more of
its words are out of vocabulary and count for nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltavec.core.statistics import TextCounts
from deltavec.search.lexical.index import InvertedIndex

if TYPE_CHECKING:
    from deltavec.collection.collection import Collection

LARGEST_LOSS = 0.05  # of coverage against the fitting corpus
WORDS_TO_JUDGE = 1_000  # below it, coverage is chance
SHOWN_RULES = 8
SHOWN_FORMS = 12


def collection_info(collection: Collection) -> dict[str, Any]:
    """Sizes, columns, model, coverage, and whether a refit is due."""
    stated, model, schema = collection.description, collection.model, collection.store.schema
    fitted = TextCounts.of(model.statistics)
    reason = refit_reason(fitted, stated.built, stated.added)

    def total(kind: str) -> int:
        files = (getattr(segment, kind) for segment in stated.segments)
        return sum(file.bytes for file in files if file)

    return {
        "documents": stated.documents,
        "documents_without_vector": stated.zero_rows,
        "dimensions": stated.dimensions,
        "dtype": stated.dtype,
        "ids": stated.id_column or "row numbers",
        "columns": {name: str(schema.field(name).type) for name in stated.columns},
        "segments": len(stated.segments),
        "documents_deleted": sum(one.documents.documents - one.live for one in stated.segments),
        "vector_bytes": total("vectors"),
        "document_bytes": total("documents"),
        "code_bytes": total("rows"),
        "words": word_facts(collection.words.words),
        "word_bytes": total("words"),
        "map": None if stated.map is None else {"drawn": stated.map.drawn, "bytes": total("map")},
        "recipe": model.recipe.name,
        "model_adapted": stated.own_model,
        "fingerprint": stated.model,
        "documents_built": stated.built.documents,
        "documents_added": stated.added.documents,
        "additions": stated.additions,
        "documents_removed": stated.removed,
        "coverage_at_fit": fitted.coverage,
        "coverage_built": stated.built.coverage,
        "coverage_added": stated.added.coverage,
        "refit_due": reason is not None,
        "refit_reason": reason,
    }


def word_facts(index: InvertedIndex) -> dict[str, Any]:
    """How many words there are, and which of them are forms of one."""
    rules = index.segments[0].rules
    return {
        "words": len(index.words),
        "stems": index.terms,
        "postings": sum(len(segment.postings.documents) for segment in index.segments),
        "mean_length": index.length_sums[0] / index.documents,
        "rules": len(rules.endings),
        "strongest_rules": [list(pair) for pair in rules.endings[:SHOWN_RULES]],
        "examples": index.forms(SHOWN_FORMS),
    }


def refit_reason(fitted: TextCounts, built: TextCounts, added: TextCounts) -> str | None:
    """Why the model should be fitted anew and the collection built from it, None if it need not.

    Due when the text of the collection, or what was added to it, is covered more than 5 points
    less than the fitting corpus (judged from 1,000 words on), or when more documents were added
    than it was built from.

    Examples
    --------
    >>> refit_reason(
    ...     TextCounts(9, 9000, 9000), TextCounts(9, 9000, 8900), TextCounts(1, 2000, 1700)
    ... )
    'the model knows 85.0 % of the words added, and 100.0 % of those it was fitted on'
    """
    known = fitted.coverage or 0.0
    for name, text in (("added", added), ("of the collection", built)):
        coverage = text.coverage
        if coverage is None or text.tokens < WORDS_TO_JUDGE:
            continue
        if known - coverage > LARGEST_LOSS:
            return (
                f"the model knows {100 * coverage:.1f} % of the words {name}, and "
                f"{100 * known:.1f} % of those it was fitted on"
            )
    if added.documents > built.documents:
        return (
            f"{added.documents:,} documents were added to the {built.documents:,} that the "
            "collection was built from"
        )
    return None
