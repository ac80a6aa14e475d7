"""The tools of the site's pages, one for each primitive, and what they need to know of a page. No JavaScript."""

from collections.abc import Mapping
from typing import Any

from rpcgw.api.webmcp import (
    BodyLine,
    Call,
    Confirm,
    Field,
    Form,
    FormText,
    ListText,
    Mailto,
    Manifest,
    Module,
    Navigate,
    NavigateText,
    Option,
    PageContext,
    Search,
    SearchText,
    StaticList,
)
from rpcgw_site.words import MAIL, ROOTS, WORDS, Words, language

Data = Mapping[str, Any]


class Menu:
    """Finds the sections of the site, as a content management system would in its tree of pages."""

    order = 10

    def process(self, page: PageContext) -> Data:
        """The sections in the page's language: key, label, address."""
        code = language(page.locale)
        sections = WORDS[code].sections.items()
        return {"menu": [(key, label, address(page, "" if key == "home" else f"{key}/")) for key, label in sections]}


class Goto:
    """Goes to a section."""

    name = "site_goto"

    def manifest(self, page: PageContext, data: Data) -> Manifest | None:
        """The sections that the menu has; without a menu there is no such tool."""
        said = words(page).tools
        options = [Option(key, label, url) for key, label, url in data.get("menu", ())]
        if not options:
            return None
        text = NavigateText(said["going"], said["nowhere"])
        primitive = Navigate(options, param="section", messages=text)
        return Manifest(self.name, said["goto"], primitive, title=said["goto_title"])


class SearchBlog:
    """Searches the blog by the index that stands beside it."""

    name = "site_search"

    def manifest(self, page: PageContext, _: Data) -> Manifest:
        """The search, with a link to the page that shows the same."""
        said = words(page).tools
        primitive = Search(
            index_url=address(page, "blog/index.json"),
            search_fields=["title", "summary"],
            result_fields=["title", "summary", "url"],
            deep_link_template=address(page, "blog/?q={query}"),
            text=SearchText(said["found"], said["all"], "{n}. {title} – {url}", said["none"], said["empty"]),
        )
        return Manifest(self.name, said["search"], primitive, title=said["search_title"])


class Hours:
    """Lists the opening hours."""

    name = "site_hours"

    def manifest(self, page: PageContext, _: Data) -> Manifest:
        """The hours as they stand on the contact page."""
        said = words(page)
        items = [{"days": days, "hours": hours} for days, hours in said.hours]
        primitive = StaticList(items, "hours", ListText("", "{days}: {hours}"))
        return Manifest(self.name, said.tools["hours"], primitive, title=said.tools["hours_title"])


class OpenNow:
    """Says whether it is open: what no primitive can, a module does."""

    name = "site_open_now"

    def manifest(self, page: PageContext, _: Data) -> Manifest:
        """The module finds the language in `extra`."""
        said = words(page).tools
        primitive = Module("/site/open.mjs", extra={"language": language(page.locale)})
        return Manifest(self.name, said["open"], primitive, title=said["open_title"], read_only=True)


class AskPrice:
    """Asks the server for a price: the method that JSON-RPC and MCP have, too, has title, texts and schema already."""

    name = "site_price"

    def manifest(self, _: PageContext, __: Data) -> Manifest:
        """The method, with the visitor's rights."""
        return Manifest(self.name, "", Call("Workshop.price", group="site"))


class WriteMail:
    """Prepares a mail."""

    name = "site_mail"

    def manifest(self, page: PageContext, _: Data) -> Manifest:
        """The visitor is asked first, as with all that is consequential."""
        said = words(page).tools
        lines = (BodyLine(said["mail_name"], "name"), BodyLine(said["mail_phone"], "phone", optional=True))
        primitive = Mailto(MAIL, said["mail_subject"], lines, "message", said["mail_ready"])
        return Manifest(self.name, said["mail"], primitive, title=said["mail_title"])


class Book:
    """Books a repair by the form of the contact page."""

    name = "site_booking"

    def manifest(self, page: PageContext, _: Data) -> Manifest | None:
        """On the contact page only."""
        if page.path != address(page, "contact/"):
            return None
        said = words(page)
        fields = [Field(name, description=said.form[name], required=True) for name in ("name", "mail", "what")]
        text = FormText("", *(said.tools[f"booking_{key}"] for key in ("sent", "missing", "invalid")))
        return Manifest(
            self.name,
            said.tools["booking"],
            Form("form#booking", fields, submit=True, messages=text),
            title=said.tools["booking_title"],
            confirm=Confirm(said.tools["booking_ask"]),
        )


PROVIDERS = (Goto, SearchBlog, Hours, OpenNow, AskPrice, WriteMail, Book)


def words(page: PageContext) -> Words:
    """The words of the page's language."""
    return WORDS[language(page.locale)]


def address(page: PageContext, path: str) -> str:
    """An address of the site in the page's language."""
    return ROOTS[language(page.locale)] + path
