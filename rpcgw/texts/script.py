"""What the script `webmcp.js` says in a page, by language. English it knows itself; so does what a table lacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_UKRAINIAN: Final[Mapping[str, str]] = {
    "ask": "Помічник просить скористатися інструментом «{tool}».",
    "accept": "Продовжити",
    "decline": "Скасувати",
    "close": "Закрити",
    "open": "Відкрити лист",
    "invalid": "Неправильні аргументи: {faults}.",
    "declined": "Відвідувач відмовився.",
    "silent": "Відвідувач не відповів.",
    "aborted": "Виклик зупинено.",
    "failed": "Інструмент не спрацював.",
    "address": "Адреса {url} тут не дозволена.",
    "late": "{url} не відповідає вчасно.",
    "lost": "{url} недоступна.",
    "status": "{url} відповідає кодом HTTP {status}.",
    "json": "{url} відповідає не у форматі JSON.",
    "large": "{url} відповідає надто великим обсягом.",
    "list": "{url} не є списком.",
    "mailbox": "Сайт не має правильної адреси для цього листа.",
    "long": "Лист задовгий на {count} символів; скоротіть повідомлення.",
    "module": "Не вдалося завантажити модуль інструмента.",
    "execute": "Модуль інструмента не має функції execute.",
    "cut": " … [скорочено]",
}
_BY_LANGUAGE: Final[Mapping[str, Mapping[str, str]]] = {"uk": _UKRAINIAN}


def words(locale: str) -> Mapping[str, str]:
    """The script's texts in a language, `uk-UA` as `uk`; none where the English holds."""
    return _BY_LANGUAGE.get(locale.partition("-")[0].lower(), {})
