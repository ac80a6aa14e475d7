"""What the product itself says of a request, in the language that the client asks for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.daemon import Daemon, daemon

FILES = {"translations/rpc.uk.yaml": "ping: {title: Пінг}\n"}
SPECIAL = {"timeout": 1, "ignoreCache": "no"}
BATCH = [
    {"id": "a", "method": "ping"},
    {"id": "b", "method": "nothing"},
    {"id": "c", "method": "ping", "params": {"x": "@FROM:b(y)"}},
    {"id": "d", "method": "ping", "params": {"x": "@FROM:z()"}},
]


@pytest.fixture(scope="module")
def served() -> Iterator[Daemon]:
    config = {
        "ufo_json_rpc": {"security": {"protected_api": False}},
        "jobs": {"webhooks": {"allow": ["https://hooks.example.com"], "secret": "s" * 40}},
    }
    with daemon(config=config, files=FILES) as made:
        yield made


def said(served: Daemon, body: Any, language: str) -> Any:
    """The errors of an answer: message and `extra` of each."""
    answers = served.post("/rpc", body, {"Accept-Language": language}).json()
    told = [each["error"] for each in (answers if isinstance(answers, list) else [answers]) if "error" in each]
    return [(error["message"], error["data"].get("extra", {})) for error in told]


@pytest.mark.parametrize(
    ("body", "english", "ukrainian"),
    [
        pytest.param(
            {"jsonrpc": "1.0", "id": 1.5, "method": " ", "params": 7},
            ['must be \\"2.0\\", or absent', "must be a string that is not blank", "must be an object or an array"],
            ['має бути \\"2.0\\" або відсутнім', "має бути непорожнім рядком", "об'єктом, масивом або відсутнім"],
            id="an envelope",
        ),
        pytest.param(
            {"id": 1, "method": "ping", "params": {"$rpc": SPECIAL}},
            ["[params][$rpc][timeout]: must be a number of seconds from 10 to 120; ", "must be true or false"],
            ["[params][$rpc][timeout]: має бути числом секунд від 10 до 120; ", "має бути true або false"],
            id="special parameters",
        ),
        pytest.param(
            {"id": 1, "method": "ping", "params": {"$rpc": {"callback": "https://evil.example.com/"}}},
            ["is not among the addresses that webhooks may go to"],
            ["не належить до адрес, куди можна надсилати вебхуки"],
            id="a callback",
        ),
        pytest.param(
            BATCH,
            [
                'refers to the field \\"y\\" of the result of request \\"b\\", which answered an error',
                "not in this batch",
            ],
            ['посилається на поле \\"y\\" результату запиту \\"b\\", відповіддю на який була помилка', "немає в цьому"],
            id="references",
        ),
    ],
)
def test_a_refusal_is_said_in_the_clients_language(
    served: Daemon, body: Any, english: list[str], ukrainian: list[str]
) -> None:
    """Messages and `extra` alike, nested ones too; who asks for nothing else is told in English."""
    for language, words in (("en", english), ("uk", ukrainian)):
        text = json.dumps(said(served, body, language), ensure_ascii=False)
        assert [each for each in words if each not in text] == [], text
