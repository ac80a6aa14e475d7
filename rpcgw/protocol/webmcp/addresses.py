"""Where tools may lead to, and whom they may write to: URLs and mail addresses, as a browser would read them. Pure.

It is narrow on purpose: what two parsers could read in two ways is refused. The script in the page looks again.
"""

from __future__ import annotations

import re
from typing import Final

from rpcgw.protocol.webmcp.placeholders import filled
from rpcgw.protocol.webmcp.site import Addresses

LONGEST: Final = 2000
_STRANGE: Final = re.compile(r"[\x00-\x20\x7f\\\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_ABSOLUTE: Final = re.compile(r"(https?)://(\[[0-9a-f:.]+\]|[a-z0-9._-]*[a-z0-9_-])(?::([0-9]{0,5}))?(?=[/?#]|$)")
_PORTS: Final = {"http": "80", "https": "443"}
_MAIL: Final = re.compile(
    r"[A-Za-z0-9_.+-]{1,64}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z][A-Za-z0-9-]{0,61}[A-Za-z0-9]"
)
_LONGEST_MAIL: Final = 254


def url_fault(url: str, addresses: Addresses) -> str:
    """What is wrong with a URL of a tool; empty where it may be gone to: of the site itself, or of its targets."""
    if not url or len(url) > LONGEST:
        return "is empty" if not url else f"is longer than {LONGEST} characters"
    if _STRANGE.search(url):
        return "holds a space, a backslash or an invisible sign; write them percent-encoded"
    scheme = _SCHEME.match(url)
    if scheme is None:
        return "begins with //, which leads to another host" if url.startswith("//") else ""
    if scheme[1].lower() not in _PORTS:
        return f"has the scheme {scheme[1]}: only http and https are gone to"
    return _absolute_fault(url, addresses)


def _absolute_fault(url: str, addresses: Addresses) -> str:
    match = _ABSOLUTE.match(url.lower())
    if match is None:
        return "has no host that could be reached, or credentials before it"
    scheme, host, port = match.groups()
    origin = f"{scheme}://{host}" if port in {None, "", _PORTS[scheme]} else f"{scheme}://{host}:{port}"
    known = addresses.targets | ({addresses.own} if addresses.own else set())
    return "" if origin in known else f"leads to {origin}, which is not this site"


def template_fault(template: str, addresses: Addresses) -> str:
    """As `url_fault`, of a URL with placeholders: none may stand before the path."""
    head = re.split(r"[/?#]", template.partition("://")[2] or template, maxsplit=1)[0] if "://" in template else ""
    if "{" in head or template.startswith("{"):
        return "lets an argument choose where it leads to"
    return url_fault(filled(template, {}, "x"), addresses)


def mail_fault(address: str) -> str:
    """What is wrong with a mail address; empty for exactly one plain address."""
    if _MAIL.fullmatch(address) and len(address) <= _LONGEST_MAIL and ".." not in address and address[0] != ".":
        return ""
    return "is not one plain mail address, such as info@example.org"
