from deltavec.lab.cache import Cache, Part


def test_a_damaged_part_is_computed_again(tmp_path):
    cache, part = Cache(tmp_path), Part("k01-lsa", {"seed": 1})
    assert cache.get(part) is None
    cache.put(part, {"scores": {"lsa": 0.5}})
    assert cache.get(part) == {"scores": {"lsa": 0.5}}
    (path,) = tmp_path.iterdir()
    for damage in ("", "{", "[]"):
        path.write_text(damage)
        assert cache.get(part) is None
    assert cache.get(Part("k01-lsa", {"seed": 2})) is None
    assert Cache(None).get(part) is None
