"""The site's pages: made of the words and the articles, once, when the plugin is imported."""

import json
from collections.abc import Iterator
from html import escape
from importlib.resources import files

from rpcgw_site.articles import ARTICLES, Article
from rpcgw_site.words import MAIL, ROOTS, WORDS, Words
from rpcgw_site.workshop import PRICES

_PAGE = """<!doctype html>
<html lang="{code}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/site/site.css">
<script src="/webmcp/webmcp.js" data-config="/webmcp/config.json" defer></script>
{head}</head>
<body>
<header><p class="name"><a href="{root}">{name}</a></p><nav aria-label="{name}"><ul>{menu}</ul></nav></header>
<main>
<h1>{title}</h1>
{body}
</main>
<footer><p>{address} · <a href="mailto:{mail}">{mail}</a></p></footer>
</body>
</html>
"""


def draw() -> dict[str, str]:
    """Every page of the site by its path."""
    made = {path: text for code in WORDS for path, text in _of_language(code)}
    www = files(__package__) / "www"
    return made | {f"/site/{file.name}": file.read_text("utf-8") for file in www.iterdir() if file.is_file()}


def _of_language(code: str) -> Iterator[tuple[str, str]]:
    words, root = WORDS[code], ROOTS[code]
    yield root, _page(code, "", words.name, f"<p>{escape(words.lead)}</p>{_hours(words)}")
    yield f"{root}services/", _page(code, "services/", words.sections["services"], _services(words))
    yield f"{root}blog/", _page(code, "blog/", words.sections["blog"], _blog(code), script="blog.js")
    yield f"{root}blog/index.json", json.dumps([_entry(article, code) for article in ARTICLES], ensure_ascii=False)
    for article in ARTICLES:
        path = f"blog/{article.slug}/"
        yield root + path, _page(code, path, article.title[code], f"<p>{escape(article.summary[code])}.</p>")
    yield f"{root}contact/", _page(code, "contact/", words.sections["contact"], _hours(words) + _form(words, root))
    sent = f"<p>{escape(words.lead)}</p>"
    yield f"{root}contact/sent/", _page(code, "contact/sent/", words.form["sent"], sent)


def _page(code: str, path: str, title: str, body: str, script: str = "") -> str:
    words, root = WORDS[code], ROOTS[code]
    places = [(root + ("" if key == "home" else f"{key}/"), label) for key, label in words.sections.items()]
    links = [_link(place, label, here=place == root + path) for place, label in places]
    other, name = words.other
    links.append(f'<li><a href="{ROOTS[other]}{path}" lang="{other}" hreflang="{other}">{escape(name)}</a></li>')
    return _PAGE.format(
        code=code,
        title=escape(title),
        head=f'<script src="/site/{script}" defer></script>\n' if script else "",
        root=root,
        name=escape(words.name),
        menu="".join(links),
        body=body,
        address=escape(words.form["address"]),
        mail=MAIL,
    )


def _link(place: str, label: str, *, here: bool) -> str:
    current = ' aria-current="page"' if here else ""
    return f'<li><a href="{place}"{current}>{escape(label)}</a></li>'


def _entry(article: Article, code: str) -> dict[str, str]:
    url = f"{ROOTS[code]}blog/{article.slug}/"
    return {"title": article.title[code], "summary": article.summary[code], "url": url}


def _hours(words: Words) -> str:
    rows = "".join(f"<div><dt>{escape(days)}</dt><dd>{escape(hours)}</dd></div>" for days, hours in words.hours)
    return f"<dl>{rows}</dl>"


def _services(words: Words) -> str:
    rows = "".join(
        f"<div><dt>{escape(words.services[name])}</dt><dd>{price} ₴</dd></div>" for name, price in PRICES.items()
    )
    return f"<dl>{rows}</dl>"


def _blog(code: str) -> str:
    items = "".join(
        f'<li><a href="{ROOTS[code]}blog/{each.slug}/">{escape(each.title[code])}</a>'
        f"<p>{escape(each.summary[code])}.</p></li>"
        for each in ARTICLES
    )
    label = escape(WORDS[code].form["search"])
    return (
        f'<form role="search"><label>{label} <input type="search" name="q"></label></form><ul class="list">{items}</ul>'
    )


def _form(words: Words, root: str) -> str:
    said = {key: escape(text) for key, text in words.form.items()}
    options = "".join(f'<option value="{name}">{escape(text)}</option>' for name, text in words.services.items())
    return f"""<h2>{said["title"]}</h2>
<form id="booking" action="{root}contact/sent/" method="get">
<label>{said["name"]} <input name="name" required maxlength="80" autocomplete="name"></label>
<label>{said["mail"]} <input name="mail" type="email" required autocomplete="email"></label>
<label>{said["what"]} <select name="what" required>{options}</select></label>
<button>{said["send"]}</button>
</form>"""
