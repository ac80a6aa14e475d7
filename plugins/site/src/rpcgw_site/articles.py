"""The blog's articles. A line of `articles.txt` is an address, then title and summary in Ukrainian and in English."""

from dataclasses import dataclass
from importlib.resources import files
from typing import Final


@dataclass(frozen=True, slots=True)
class Article:
    """One article; texts by language."""

    slug: str
    title: dict[str, str]
    summary: dict[str, str]


ARTICLES: Final = tuple(
    Article(slug, {"uk": title, "en": heading}, {"uk": summary, "en": gist})
    for slug, title, summary, heading, gist in (
        [part.strip() for part in row.split("|")]
        for row in (files(__package__) / "articles.txt").read_text("utf-8").splitlines()
    )
)
