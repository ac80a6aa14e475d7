"""The words of the site and of its tools, by language."""

from dataclasses import dataclass
from typing import Final

ROOTS: Final = {"uk": "/site/", "en": "/site/en/"}
MAIL: Final = "workshop@example.org"


@dataclass(frozen=True, slots=True)
class Words:
    """Everything that is said in one language."""

    name: str
    lead: str
    sections: dict[str, str]
    other: tuple[str, str]
    services: dict[str, str]
    hours: tuple[tuple[str, str], ...]
    form: dict[str, str]
    tools: dict[str, str]


WORDS: Final = {
    "uk": Words(
        name="Майстерня «Спиця»",
        lead="Ремонтуємо велосипеди на Подолі з 2009 року. Приходьте без запису або напишіть нам.",
        sections={"home": "Головна", "services": "Послуги", "blog": "Блог", "contact": "Контакти"},
        other=("en", "English"),
        services={
            "tune-up": "Повне обслуговування",
            "wheel": "Вирівнювання колеса",
            "brakes": "Гальма",
            "gears": "Перемикання передач",
            "cleaning": "Миття і змащування",
        },
        hours=(("Понеділок – п'ятниця", "9:00 – 19:00"), ("Субота", "10:00 – 16:00"), ("Неділя", "зачинено")),
        form={
            "title": "Записатися на ремонт",
            "name": "Ваше ім'я",
            "mail": "Електронна пошта",
            "what": "Що зробити",
            "send": "Надіслати",
            "sent": "Дякуємо, запис прийнято",
            "search": "Шукати у блозі",
            "address": "Київ, вулиця Верхній Вал, 1",
        },
        tools={
            "goto": "Відкриває розділ сайту майстерні.",
            "goto_title": "Перейти до розділу",
            "going": "Відкриваю: {label}.",
            "nowhere": "Такого розділу немає. Можна: {options}.",
            "search": "Шукає статті блогу про велосипеди за словами.",
            "search_title": "Пошук у блозі",
            "found": "Знайдено {total}, показано {count}, за словами «{query}»:",
            "all": "Усі статті, показано {count}:",
            "none": "За словами «{query}» нічого не знайдено.",
            "empty": "У блозі ще нічого немає.",
            "hours": "Години роботи майстерні.",
            "hours_title": "Години роботи",
            "open": "Каже, чи майстерня зараз відчинена.",
            "open_title": "Чи відчинено",
            "mail": "Готує лист до майстерні; надсилає його сам відвідувач.",
            "mail_title": "Написати лист",
            "mail_subject": "Запитання від {name}",
            "mail_name": "Ім'я",
            "mail_phone": "Телефон",
            "mail_ready": "Лист до {to} готовий. Якщо програма не відкрилась, скористайтеся посиланням.",
            "booking": "Заповнює і надсилає форму запису на ремонт.",
            "booking_title": "Записатися на ремонт",
            "booking_ask": "Записати {name} на ремонт?",
            "booking_sent": "Форму надіслано.",
            "booking_missing": "На цій сторінці немає форми.",
            "booking_invalid": "Форма не приймає: {fields}.",
        },
    ),
    "en": Words(
        name="The Spoke Workshop",
        lead="We have mended bicycles in Podil since 2009. Walk in, or write to us.",
        sections={"home": "Home", "services": "Services", "blog": "Blog", "contact": "Contact"},
        other=("uk", "Українська"),
        services={
            "tune-up": "Full service",
            "wheel": "Wheel truing",
            "brakes": "Brakes",
            "gears": "Gears",
            "cleaning": "Washing and oiling",
        },
        hours=(("Monday – Friday", "9:00 – 19:00"), ("Saturday", "10:00 – 16:00"), ("Sunday", "closed")),
        form={
            "title": "Book a repair",
            "name": "Your name",
            "mail": "E-mail",
            "what": "What is to be done",
            "send": "Send",
            "sent": "Thank you, you are booked",
            "search": "Search the blog",
            "address": "1 Verkhnii Val Street, Kyiv",
        },
        tools={
            "goto": "Opens a section of the workshop's site.",
            "goto_title": "Go to a section",
            "going": "Opening: {label}.",
            "nowhere": "There is no such section. There are: {options}.",
            "search": "Searches the blog's articles about bicycles by words.",
            "search_title": "Search the blog",
            "found": "Found {total}, showing {count}, for “{query}”:",
            "all": "All articles, showing {count}:",
            "none": "Nothing was found for “{query}”.",
            "empty": "There is nothing in the blog yet.",
            "hours": "The workshop's opening hours.",
            "hours_title": "Opening hours",
            "open": "Says whether the workshop is open now.",
            "open_title": "Is it open",
            "mail": "Prepares a mail to the workshop; the visitor sends it.",
            "mail_title": "Write a mail",
            "mail_subject": "Question from {name}",
            "mail_name": "Name",
            "mail_phone": "Phone",
            "mail_ready": "A mail to {to} is ready. If no program opened, use the link.",
            "booking": "Fills in and sends the form that books a repair.",
            "booking_title": "Book a repair",
            "booking_ask": "Book a repair for {name}?",
            "booking_sent": "The form was sent.",
            "booking_missing": "There is no form on this page.",
            "booking_invalid": "The form does not take: {fields}.",
        },
    ),
}


def language(locale: str) -> str:
    """The site's language for a page's; Ukrainian where it has none."""
    found = locale.partition("-")[0].lower()
    return found if found in WORDS else "uk"
