"""Lee's news stories, the similarity judgments of people, and the agreement of vectors with them.

300 stories, and 50 more of which 83 students rated every pair (M. D. Lee, B. Pincombe and M. Welsh,
An empirical evaluation of models of text document similarity, CogSci 2005). They are in gensim's
test data.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt

from deltavec.errors import MissingDependencyError

FILES = ("lee_background.cor", "lee.cor", "similarities0-1.txt")


@dataclass(frozen=True, eq=False)
class LeeDocuments:
    """The stories and the judgments.

    Attributes
    ----------
    background : list of str
        300 stories without judgments.
    judged : list of str
        50 stories.
    judgements : ndarray of float64, shape (50, 50)
        The similarity that people gave two of them, from 0 to 1; only above the diagonal.
    """

    background: list[str]
    judged: list[str]
    judgements: npt.NDArray[np.float64]

    @property
    def stories(self) -> list[str]:
        """All of them, the judged ones last."""
        return self.background + self.judged

    @property
    def pairs(self) -> int:
        """The number of judged pairs."""
        return len(self.judged) * (len(self.judged) - 1) // 2

    def judgement(self, one: int, other: int) -> float:
        """The similarity that people gave two of the judged stories."""
        return float(self.judgements[min(one, other), max(one, other)])


def lee_documents() -> LeeDocuments:
    """The stories and judgements, from gensim's test data."""
    background, judged, judgements = (data_folder() / name for name in FILES)
    return LeeDocuments(
        stories_in(background), stories_in(judged), np.loadtxt(judgements, dtype=np.float64)
    )


def data_folder() -> Path:
    """The folder of gensim's test data. gensim is slow to import and is not imported."""
    package = find_spec("gensim")
    for place in package.submodule_search_locations or [] if package else []:
        folder = Path(place, "test", "test_data")
        if all((folder / name).is_file() for name in FILES):
            return folder
    raise MissingDependencyError(
        "the news stories come with gensim (Python 3.11 to 3.13): pip install 'deltavec[lab]'"
    )


def stories_in(path: Path) -> list[str]:
    """The stories of a file, one to a line."""
    return path.read_text("latin-1").rstrip("\n").split("\n")


def agreement(vectors: npt.NDArray[np.float32], judgements: npt.NDArray[np.float64]) -> float:
    """Pearson's correlation of the vectors' cosines with judgments, over all pairs.

    0 if all cosines are the same.
    """
    pairs = np.triu_indices(len(vectors), 1)
    cosines = (vectors @ vectors.T)[pairs]
    if np.ptp(cosines) == 0:
        return 0.0
    return float(np.corrcoef(cosines, judgements[pairs])[0, 1])
