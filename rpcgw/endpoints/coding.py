"""Whether a client takes answers that are compressed (RFC 9110 section 12.5.3). Pure."""

from __future__ import annotations

import re
from typing import Final

from rpcgw.exchange import Headers

_GZIP: Final = re.compile(r"(?:^|,)\s*(?:x-)?gzip\s*(?:;\s*q\s*=\s*([01](?:\.[0-9]*)?)\s*)?(?=,|$)", re.IGNORECASE)


def takes_gzip(headers: Headers) -> bool:
    """Whether `Accept-Encoding` names gzip, and not as what is not wanted."""
    found = [_GZIP.search(line) for line in headers.getall("accept-encoding", [])]
    return any(match is not None and float(match[1] or 1) > 0 for match in found)
