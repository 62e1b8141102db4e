"""Our estimator embeds for BERTopic as it is."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline

import deltavec as dv

bertopic = pytest.importorskip("bertopic", reason="make test-peers has it")

# Its own warnings, not ours: they change with the versions of what it calls.
pytestmark = pytest.mark.filterwarnings("default")

SEA = ["sea beach sand waves", "waves and sand at the beach", "the beach by the sea", "sea waves"]
FOOD = ["breakfast coffee bread", "coffee and bread", "breakfast with eggs", "bread eggs coffee"]


@pytest.mark.parametrize("given", ["a pipeline", "vectors"])
def test_bertopic_tells_two_topics_apart(given: str) -> None:
    texts = (SEA + FOOD) * 4
    embedder = dv.DocumentEmbedder(recipe="spectral", dimensions=4, units="words", threads=1)
    topics = bertopic.BERTopic(
        embedding_model=make_pipeline(embedder) if given == "a pipeline" else None,
        umap_model=PCA(2, random_state=0),
        hdbscan_model=KMeans(2, n_init=3, random_state=0),
    )
    vectors = None if given == "a pipeline" else embedder.fit(texts).transform(texts)
    found, _ = topics.fit_transform(texts, vectors)
    told = np.array(found).reshape(-1, 2, 4)
    assert (told[:, 0] == told[0, 0, 0]).all()
    assert (told[:, 1] == told[0, 1, 0]).all()
    assert told[0, 0, 0] != told[0, 1, 0]
