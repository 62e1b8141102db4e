"""A model's table is an ordinary safetensors file, which other programs can read."""

import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file

import deltavec as dv
from deltavec.io.artifacts.model import arrays_of


def test_safetensors_reads_every_array_of_a_model(tmp_path):
    vectors = dv.WordVectors(["sea", "room", "quiet"], [[1, 0, 2], [0, 1, 1], [0.5, 1, 0]])
    for recipe in ("idf-center-pca", "unit-sum"):
        model = dv.fit(["sea view", "quiet room", "room"], vectors, recipe)
        model.save(tmp_path / "m.dv")
        tensors = load_file(tmp_path / "m.dv" / "model.safetensors")
        arrays = arrays_of(model)
        assert tensors.keys() == arrays.keys()
        for name, array in arrays.items():
            assert tensors[name].dtype == array.dtype
            assert np.array_equal(tensors[name], array)
        with safe_open(tmp_path / "m.dv" / "model.safetensors", "np") as file:
            assert file.metadata() == {"format": "deltavec model"}
