"""Every address of the API, asked in the right way and in wrong ones."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from starlette.applications import Starlette

import deltavec as dv
from deltavec.errors import InputError
from deltavec.server.app import create_app
from deltavec.server.limits import Limits
from deltavec.server.page.routes import BOUNDS
from support.served import PLACED, TEXTS, ask, checked, small_collection

LIMITS = Limits(k=5, batch=3, text_length=200, pairs=4, excerpt_length=100, workers=2)


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> dv.Collection:
    return small_collection(tmp_path_factory.mktemp("api"))


@pytest.fixture(scope="module")
def app(collection: dv.Collection) -> Starlette:
    return create_app(collection, limits=LIMITS, name="reviews")


def get(app: Starlette, path: str, query: str = "") -> Any:
    answer = ask(app, "GET", path, query=query)
    assert answer.status == 200, answer.body
    return answer.json


def test_a_search_finds_what_the_collection_finds(
    app: Starlette, collection: dv.Collection
) -> None:
    found = checked("Results", get(app, "/search", "query=quiet+sea&k=3"))
    expected = collection.search("quiet sea", 3)
    assert [(r["id"], r["score"], r["text"], r["columns"]) for r in found["results"]] == [
        (one.id, one.score, one.text, one.columns) for one in expected
    ]


def test_a_broad_search_finds_what_the_collection_finds(
    app: Starlette, collection: dv.Collection
) -> None:
    found = checked("Results", get(app, "/search", "query=quiet+sea&k=3&broad=true"))
    expected = collection.search("quiet sea", 3, broad=True)
    assert [(r["id"], r["score"]) for r in found["results"]] == [(o.id, o.score) for o in expected]


def test_a_search_is_the_same_by_get_and_by_post(app: Starlette) -> None:
    by_get = get(app, "/search", "query=quiet+sea&k=2&explain=true")
    question = {"query": "quiet sea", "k": 2, "explain": True}
    assert ask(app, "POST", "/search", body=question).json == by_get


def test_explained_results_come_in_pieces_with_the_model_s_shares(
    app: Starlette, collection: dv.Collection
) -> None:
    asked = "query=quiet+sea&k=1&explain=true&by=semantic"
    found = checked("Results", get(app, "/search", asked))
    result = found["results"][0]
    assert "".join(text for text, _ in result["pieces"]) == result["text"]
    shares = {text.lower(): share for text, share in result["pieces"]}
    why = collection.model.explain("quiet sea", result["text"])
    assert shares["sea"] == pytest.approx(
        next(word.share for word in why.words_b if word.word == "sea"), abs=1e-6
    )


def test_a_query_without_known_words_finds_nothing_and_says_so(app: Starlette) -> None:
    for query, by in (("xyzzy+plugh", "semantic"), ("unheard+quux", "hybrid")):
        assert get(app, "/search", f"query={query}&by={by}") == {
            "results": [],
            "unknown": query.split("+"),
            "suggestions": {},
            "matches": None if by == "semantic" else 0,
            "by": by,
        }


def test_words_that_match_are_told(app: Starlette, collection: dv.Collection) -> None:
    found = checked("Results", get(app, "/search", "query=xyzzy+rooms&explain=true"))
    assert (found["by"], found["unknown"]) == ("hybrid", ["rooms"])
    assert found["results"][0]["matched"] == ["xyzzy"]
    plain = checked("Results", get(app, "/search", "query=xyzzy&by=keyword"))
    assert [(r["id"], r["matched"]) for r in plain["results"]] == [("<b>bold</b>", [])]
    assert ask(app, "GET", "/search", query="query=sea&by=sound").status == 422


@pytest.mark.parametrize("by", ["hybrid", "keyword", "semantic"])
def test_why_adds_up_to_the_score(app: Starlette, collection: dv.Collection, by: str) -> None:
    result = get(app, "/search", f"query=quiet+sea&k=1&by={by}")["results"][0]
    question = {"query": "quiet sea", "id": result["id"], "by": by}
    why = checked("Found", ask(app, "POST", "/why", body=question).json)
    assert why["score"] == pytest.approx(result["score"], abs=1e-5)
    total = sum(word["keyword"] + word["semantic"] for word in why["words"])
    assert total + why["other_share"] + why["center"] == pytest.approx(why["score"])
    assert ask(app, "GET", "/why", query="query=sea&id=nobody").status == 404


def test_a_filter_chooses_documents_and_a_wrong_one_is_explained(app: Starlette) -> None:
    found = get(app, "/search", "query=quiet+sea&filter=stars+%3E%3D+4")
    assert {r["columns"]["stars"] for r in found["results"]} <= {4, 5}
    refused = ask(app, "GET", "/search", query="query=sea&filter=stars+%3E")
    assert (refused.status, refused.error["param"]) == (422, "filter")
    assert ask(app, "GET", "/search", query="query=sea&filter=" + "(" * 5000).status == 422


def test_texts_are_shown_up_to_a_length(app: Starlette) -> None:
    result = get(app, "/search", "query=sea&k=1&length=7")["results"][0]
    assert len(result["text"]) == 7
    assert result["length"] > 7


@pytest.mark.parametrize("identity", TEXTS)
def test_every_document_has_an_address_whatever_its_id(
    app: Starlette, collection: dv.Collection, identity: str
) -> None:
    found = checked("Document", get(app, "/documents", urlencode({"id": identity})))
    assert (found["id"], found["text"]) == (identity, TEXTS[identity])
    query = urlencode({"id": identity, "k": 3})
    similar = checked("Results", get(app, "/similar", query))
    if "\n" not in identity:
        assert get(app, f"/documents/{identity}") == found
        assert get(app, f"/similar/{identity}", "k=3") == similar
    expected = collection.similar(identity, 3)
    assert [r["id"] for r in similar["results"]] == [one.id for one in expected]
    assert identity not in [r["id"] for r in similar["results"]]


def test_keywords_are_the_collection_s(app: Starlette, collection: dv.Collection) -> None:
    found = get(app, "/documents/sea")["keywords"]
    expected = collection.keywords("sea", 10)
    assert [word["word"] for word in found] == [word.word for word in expected]


@pytest.mark.parametrize("path", ["/documents/nope", "/similar/nope", "/documents/"])
def test_an_unknown_id_is_not_found(app: Starlette, path: str) -> None:
    assert ask(app, "GET", path).error["type"] == "not_found"


def test_an_explanation_adds_up(app: Starlette) -> None:
    question = {"text_a": "a quiet sea", "id_b": "room/1", "pairs": 4, "length": 100}
    why = checked("Why", ask(app, "POST", "/explain", body=question).json)
    for side in (why["a"], why["b"]):
        total = sum(w["share"] for w in side["words"]) + side["other_share"] + side["offset"]
        assert total == pytest.approx(why["cosine"])
    assert why["removed"]["before"] == pytest.approx(
        why["removed"]["left"] + why["removed"]["taken"]
    )
    by_get = get(app, "/explain", "text_a=a+quiet+sea&id_b=room/1&pairs=4&length=100")
    assert by_get == why


def test_an_explanation_marks_the_text_that_both_have(app: Starlette) -> None:
    question = {"text_a": "So: a quiet sea by the room", "text_b": "A quiet sea by the door"}
    why = checked("Why", ask(app, "POST", "/explain", body=question).json)
    assert why["a"]["same"] == [["So: ", False], ["a quiet sea by the", True], [" room", False]]
    assert why["b"]["same"] == [["A quiet sea by the", True], [" door", False]]
    nothing = ask(app, "POST", "/explain", body={"text_a": "sea", "text_b": "room"}).json
    assert nothing["a"]["same"] == [["sea", False]]


def test_a_spectral_collection_is_explained_with_its_offset(tmp_path: Path) -> None:
    app = create_app(small_collection(tmp_path, "spectral"), limits=LIMITS)
    question = {"id_a": "sea", "id_b": "room/1", "length": 100}
    why = checked("Why", ask(app, "POST", "/explain", body=question).json)
    assert why["removed"] is None
    assert why["a"]["offset"] != 0


def test_a_document_too_long_to_be_explained_is_found_all_the_same(
    collection: dv.Collection,
) -> None:
    app = create_app(collection, limits=Limits(explained_length=10))
    found = get(app, "/search", "query=sea&k=1&explain=true")
    assert found["results"][0]["pieces"] is None
    refused = ask(app, "GET", "/explain", query="id_a=sea&id_b=room/1")
    assert "too long to be explained" in refused.error["message"]
    assert get(app, "/documents/sea")["keywords"] == []


def test_the_map_has_a_point_and_a_color_for_each_document(app: Starlette) -> None:
    points = checked("Map", get(app, "/map"))
    assert points["ids"] == PLACED
    assert len(points["x"]) == len(points["y"]) == len(PLACED)
    info = checked("Info", get(app, "/info"))
    assert info["color_by"] == ["cluster", "stars", "kind"]
    for name in info["color_by"]:
        colors = get(app, "/map/colors", f"by={name}")
        checked("MapColors", colors)
        assert len(colors["values"]) == len(PLACED)
    assert ask(app, "GET", "/map/colors", query="by=nope").error["param"] == "by"


def test_info_tells_the_limits_and_no_path(app: Starlette, collection: dv.Collection) -> None:
    answer = ask(app, "GET", "/info")
    assert answer.json["limits"]["k"] == 5
    assert str(collection.path) not in answer.body.decode()


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "query"),
        ({"query": 3}, "query"),
        ({"query": "a", "k": 0}, "k"),
        ({"query": "a", "k": 6}, "k"),
        ({"query": "a", "length": 101}, "length"),
        ({"query": "a" * 201}, "query"),
        ({"query": "a", "nonsense": 1}, "nonsense"),
        ({"query": "a", "filter": "nope == 1"}, "filter"),
    ],
)
def test_what_is_wrong_with_a_question_is_named(app: Starlette, body: Any, param: str) -> None:
    refused = ask(app, "POST", "/search", body=body)
    assert refused.status == 422
    assert refused.error["type"] == "invalid_request"
    assert refused.error["param"] == param


@pytest.mark.parametrize(
    "body",
    [
        {"text_a": "a"},
        {"text_a": "a", "id_a": "sea", "text_b": "b"},
        {"text_a": "a", "text_b": "b", "pairs": 5},
        {"text_a": "a", "id_b": "nope", "length": 10},
    ],
)
def test_half_an_explanation_is_refused(app: Starlette, body: Any) -> None:
    assert ask(app, "POST", "/explain", body={"length": 10, **body}).error["param"]


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'"' * 1000, b"[" * 100_000, b"1" * 10_000]
)
def test_a_body_that_is_no_json_object_is_refused(app: Starlette, body: bytes) -> None:
    assert ask(app, "POST", "/search", body=body).error["type"] == "invalid_request"


def test_half_a_surrogate_is_refused(app: Starlette) -> None:
    assert ask(app, "POST", "/search", body=b'{"query": "\\ud800"}').status == 422
    assert ask(app, "POST", "/search", body=b'{"\\ud800": 1}').status == 422


def test_a_body_that_does_not_say_it_is_json_is_refused(app: Starlette) -> None:
    plain = {"content-type": "text/plain"}  # what a page elsewhere may send without asking
    assert ask(app, "POST", "/search", body=b'{"query": "sea"}', headers=plain).status == 422


def test_a_wrong_method_and_a_wrong_address_are_told(app: Starlette) -> None:
    assert ask(app, "DELETE", "/search").error["type"] == "method_not_allowed"
    for path in (
        "/nope",
        "/../etc/passwd",
        "/page/../app.py",
        "/page/%2e%2e/app.py",
        "//",
        "/page",
    ):
        assert ask(app, "GET", path).error["type"] == "not_found"


def embeddings(app: Starlette, **body: Any) -> Any:
    return ask(app, "POST", "/v1/embeddings", body={"model": "deltavec", **body})


def test_embeddings_are_the_model_s(app: Starlette, collection: dv.Collection) -> None:
    texts = ["a quiet sea", "xyzzy", ""]
    found = checked("Embeddings", embeddings(app, input=texts).json)
    vectors = np.array([entry["embedding"] for entry in found["data"]], np.float32)
    assert (vectors == collection.model.embed(texts)).all()
    assert [entry["index"] for entry in found["data"]] == [0, 1, 2]
    assert found["usage"] == {"prompt_tokens": 4, "total_tokens": 4}
    encoded = embeddings(app, input=texts[0], encoding_format="base64").json["data"][0]
    same = np.frombuffer(base64.b64decode(encoded["embedding"]), "<f4")
    assert (same == vectors[0]).all()


def test_the_names_of_the_model_are_listed_and_taken(app: Starlette) -> None:
    names = [entry["id"] for entry in get(app, "/v1/models")["data"]]
    assert len(names) == 2
    for name in names:
        assert get(app, f"/v1/models/{name}")["id"] == name
        assert embeddings(app, input="a", model=name).json["model"] == names[1]


@pytest.mark.parametrize(
    ("body", "param", "reason"),
    [
        ({"input": [1, 2]}, "input", "token numbers"),
        ({"input": [[1], [2]]}, "input", "token numbers"),
        ({"input": []}, "input", "at least one"),
        ({"input": ["a"] * 4}, "input", "at most 3"),
        ({"input": "a" * 201}, "input", "200 characters"),
        ({"input": "a", "dimensions": 3}, "dimensions", "cannot be cut"),
        ({"input": "a", "encoding_format": "int8"}, "encoding_format", "float"),
        ({"input": {"a": 1}}, "input", ""),
        ({"input": "a", "model": "text-embedding-3-small"}, "model", "'deltavec'"),
    ],
)
def test_what_cannot_be_embedded_is_refused_with_a_reason(
    app: Starlette, body: Any, param: str, reason: str
) -> None:
    refused = embeddings(app, **body)
    assert refused.status in (404, 422)
    assert refused.error["param"] == param
    assert reason in refused.error["message"]


def test_dimensions_that_are_the_model_s_are_taken(
    app: Starlette, collection: dv.Collection
) -> None:
    assert embeddings(app, input="a", dimensions=collection.model.dimensions).status == 200


def test_the_page_and_its_files_are_there(app: Starlette) -> None:
    page = ask(app, "GET", "/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    for name in ("explorer.css", "explorer.js", "map.js"):
        found = ask(app, "GET", f"/page/{name}")
        assert found.status == 200
        kept = {"if-none-match": found.headers["etag"]}
        assert ask(app, "GET", f"/page/{name}", headers=kept).status == 304
    assert ask(app, "HEAD", "/").status == 200
    assert b"<script>" not in page.body
    assert b"style=" not in page.body


def test_the_reference_lists_every_address(app: Starlette) -> None:
    listed = ask(app, "GET", "/docs").body.decode()
    for address in ask(app, "GET", "/openapi.json").json["paths"]:
        assert f"</b> {address}</h2>" in listed
    assert "http://" not in listed
    assert "https://" not in listed


@pytest.mark.parametrize("token", ["", " a", "ä", "a\nb"])
def test_a_token_that_cannot_be_sent_is_refused(collection: dv.Collection, token: str) -> None:
    with pytest.raises(InputError, match="token"):
        create_app(collection, token=token)


def test_limits_are_above_zero() -> None:
    with pytest.raises(InputError, match="k must be above 0"):
        Limits(k=0)


def bounded_fields(app: Starlette) -> Iterator[tuple[str, str, str, str, int]]:
    """The method, address, field, kind of bound and bound of every field that has one."""
    schema = get(app, "/openapi.json")
    for address, operations in schema["paths"].items():
        for method, operation in operations.items():
            fields = {one["name"]: one["schema"] for one in operation.get("parameters", ())}
            if "requestBody" in operation:
                name = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
                fields = schema["components"]["schemas"][name.rpartition("/")[2]]["properties"]
            for field, one in fields.items():
                for variant in one.get("anyOf", [one]):
                    for kind in BOUNDS.values():
                        if kind in variant:
                            yield method.upper(), address, field, kind, variant[kind]


def test_the_schema_has_the_bounds_of_this_server(app: Starlette) -> None:
    found = list(bounded_fields(app))
    for expected in [
        ("GET", "/search", "k", "maximum", LIMITS.k),
        ("GET", "/search", "query", "maxLength", LIMITS.text_length),
        ("GET", "/search", "length", "maximum", LIMITS.excerpt_length),
        ("GET", "/search", "offset", "maximum", LIMITS.deepest - 1),
        ("POST", "/explain", "pairs", "maximum", LIMITS.pairs),
        ("POST", "/documents", "documents", "maxItems", LIMITS.batch),
        ("POST", "/v1/embeddings", "input", "maxItems", LIMITS.batch),
        ("POST", "/v1/embeddings", "input", "maxLength", LIMITS.text_length),
    ]:
        assert expected in found
    assert "x-limit" not in ask(app, "GET", "/openapi.json").body.decode()


def test_a_value_beyond_a_bound_of_the_schema_is_refused_for_that_field(app: Starlette) -> None:
    others = {"/explain": {"text_a": "sea", "text_b": "bed"}, "/why": {"id": "sea"}}
    tried = 0
    for method, address, field, kind, bound in bounded_fields(app):
        if method == "GET" and "{" not in address and address != "/v1/query":
            value = bound + 1 if kind == "maximum" else "a" * (bound + 1)
            fields = {"query": "quiet sea", "id": "sea", **others.get(address, {}), field: value}
            known = {one[2] for one in bounded_fields(app) if one[:2] == (method, address)}
            sent = {name: one for name, one in fields.items() if name in known}
            refused = ask(app, "GET", address, query=urlencode(sent))
            assert (refused.status, refused.error["param"]) == (422, field), (address, field)
            tried += 1
    assert tried > 30


def test_values_at_the_bounds_are_taken(app: Starlette) -> None:
    query = ("quiet sea " * 20)[: LIMITS.text_length]
    wide = "stars > 0 or stars <= 0" + " " * 1977
    at_most = urlencode({"query": query, "k": 5, "length": 100, "filter": wide})
    assert get(app, "/search", at_most)["results"]
    assert get(app, "/search", f"query=sea&k=1&offset={LIMITS.deepest - 1}")["results"] == []
    assert len(get(app, "/explain", "text_a=sea&text_b=sea&pairs=4")["together"]) <= 4
    assert len(embeddings(app, input=["a" * 200] * 3).json["data"]) == 3
