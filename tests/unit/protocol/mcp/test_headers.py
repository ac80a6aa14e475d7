"""What a header value means once its encoding is taken off."""

import pytest

from rpcgw.protocol.mcp.headers import decoded


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        pytest.param("us-west1", "us-west1", id="plain text is itself"),
        pytest.param(" \tus-west1 ", "us-west1", id="blanks around a value do not count"),
        pytest.param("", "", id="an empty value is empty"),
        pytest.param("=?base64?SGVsbG8sIOS4lueVjA==?=", "Hello, 世界", id="Base64 holds UTF-8"),
        pytest.param("=?base64?IHBhZGRlZCA=?=", " padded ", id="Base64 keeps blanks"),
        pytest.param("=?base64??=", "", id="Base64 of nothing"),
        pytest.param("=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=", "=?base64?literal?=", id="Base64 of something that looks like it"),
        pytest.param("=?base64?SGVsbG8?=", None, id="missing padding is refused"),
        pytest.param("=?base64?SGVs bG8=?=", None, id="blanks inside Base64 are refused"),
        pytest.param("=?base64?SGVs*G8=?=", None, id="another alphabet is refused"),
        pytest.param("=?base64?_-8=?=", None, id="the URL alphabet is refused"),
        pytest.param("=?base64?/w==?=", None, id="Base64 of what is no UTF-8 is refused"),
        pytest.param("=?base64?SGVsbG8=", "=?base64?SGVsbG8=", id="without its end the mark is literal"),
        pytest.param("SGVsbG8=?=", "SGVsbG8=?=", id="without its beginning the mark is literal"),
        pytest.param("=?base64?=", "=?base64?=", id="beginning and end must not overlap"),
        pytest.param("=?BASE64?SGVsbG8=?=", "=?BASE64?SGVsbG8=?=", id="the mark is compared to the letter"),
        pytest.param("Львів", None, id="raw text beyond ASCII is refused"),
        pytest.param("a\x07b", None, id="control characters are refused"),
    ],
)  # fmt: skip
def test_a_header_value_is_read_to_the_letter(sent: str, meant: str | None) -> None:
    """MCP 2026-07-28, Streamable HTTP, Value Encoding."""
    assert decoded(sent) == meant
