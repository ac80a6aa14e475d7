"""A token that is typed into a browser comes in as one that a program sends."""

from __future__ import annotations

import base64

import pytest

from rpcgw.access.basic import password_of, typed
from rpcgw.api.context import ANONYMOUS
from rpcgw.exchange import Fields, Head, Verdict


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


PASSWORDS = [
    pytest.param(f"Basic {encoded('me:secret')}", "secret", id="a name and a token"),
    pytest.param(f"basic  {encoded(':secret')}", "secret", id="no name, in small letters"),
    pytest.param(f"Basic {encoded('secret')}", "secret", id="a token alone"),
    pytest.param(f"Basic {encoded('me:a:b')}", "a:b", id="a token with a colon"),
    pytest.param(f"Basic {encoded('я:ключ')}", "ключ", id="letters of any language"),
    pytest.param(f"Basic {encoded('me:')}", "", id="an empty token"),
    pytest.param("Basic !!!", None, id="no base64"),
    pytest.param(f"Basic {base64.b64encode(bytes([255])).decode()}", None, id="no UTF-8"),
    pytest.param("Bearer secret", None, id="another scheme"),
    pytest.param("", None, id="nothing"),
]


@pytest.mark.parametrize(("field", "password"), PASSWORDS)
def test_what_was_typed(field: str, password: str | None) -> None:
    """The password of HTTP Basic, and nothing where there is none."""
    assert password_of(Fields({"Authorization": field})) == password


def test_a_typed_token_is_judged_like_a_sent_one() -> None:
    """Who judges sees `Authorization: Bearer`, and every other field as it came."""
    seen: list[Head] = []

    def admit(head: Head) -> Verdict:
        seen.append(head)
        return ANONYMOUS

    judge = typed(admit)
    judge(Head("GET", "/", "", Fields({"Authorization": f"Basic {encoded('me:secret')}", "Host": "a"})))
    judge(Head("GET", "/", "", Fields({"Authorization": "Bearer sent", "Host": "a"})))
    assert [(head.headers.get("authorization"), head.headers.getall("authorization", [])) for head in seen] == [
        ("Bearer secret", ["Bearer secret"]),
        ("Bearer sent", ["Bearer sent"]),
    ]
    assert [head.headers.get("host") for head in seen] == ["a", "a"]
