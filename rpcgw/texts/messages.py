"""What the product itself says to clients, in other languages than English. Tables.

The keys are those of the kernel's English texts; `{...}` are the same facts. A catalogue may replace any of them, and
add a language, under the reserved name `rpcgw`: `rpcgw: {messages: {missing: ...}}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_DATE_TIME: Final = "має бути датою і часом, як-от 2026-11-30T12:00:00Z"
_DATE: Final = "має бути датою, як-от 2026-11-30"
_TIME: Final = "має бути часом, як-от 12:00:00"
_DURATION: Final = "має бути тривалістю за ISO 8601, як-от PT1H30M"
_OBJECT: Final = "має бути об'єктом"
_ARRAY: Final = "має бути масивом"
_STRING: Final = "має бути рядком"

UKRAINIAN: Final[Mapping[str, str]] = {
    "invalid_data": "Хибні дані для {method}",
    "invalid_parameters": "Хибні параметри {method}",
    "positions": "{method} приймає параметрів: {takes}, передано: {given}",
    "missing": "обов'язковий",
    "unknown_parameter": "невідомий параметр",
    "extra_forbidden": "невідоме поле",
    "wrong_type": "має бути {expected}",
    "no_json": "містить значення, яке не передати в JSON",
    "string_type": _STRING,
    "int_type": "має бути цілим числом",
    "int_from_float": "має бути цілим числом",
    "float_type": "має бути числом",
    "bool_type": "має бути true або false",
    "none_required": "має бути null",
    "list_type": _ARRAY,
    "set_type": _ARRAY,
    "frozen_set_type": _ARRAY,
    "tuple_type": _ARRAY,
    "dict_type": _OBJECT,
    "dataclass_type": _OBJECT,
    "model_type": _OBJECT,
    "model_attributes_type": _OBJECT,
    "date_type": _STRING,
    "datetime_type": _STRING,
    "string_too_short": "має містити символів щонайменше: {min_length}",
    "string_too_long": "має містити символів щонайбільше: {max_length}",
    "too_short": "має містити елементів щонайменше: {min_length}",
    "too_long": "має містити елементів щонайбільше: {max_length}",
    "greater_than_equal": "має бути не менше {ge}",
    "greater_than": "має бути більше {gt}",
    "less_than_equal": "має бути не більше {le}",
    "less_than": "має бути менше {lt}",
    "multiple_of": "має бути кратним {multiple_of}",
    "finite_number": "має бути скінченним числом",
    "too_large": "завелике",
    "string_pattern_mismatch": "має відповідати {pattern}",
    "enum": "має бути {expected}",
    "literal_error": "має бути {expected}",
    "unique": "не може містити той самий елемент двічі",
    "no_form": "має бути однієї з оголошених форм",
    "not_allowed": "не дозволено",
    "predicate_failed": "не дозволено",
    "not_operation_failed": "не дозволено",
    "not_blank": "не може бути порожнім",
    "not_null": "не може бути null",
    "not_found": "не знайдено",
    "email": "має бути адресою електронної пошти",
    "url": "має бути URL, що починається з {schemes}",
    "ip": "має бути адресою IP{version}",
    "json": "має бути текстом JSON",
    "equal_to": "має бути {value}",
    "not_equal_to": "не може бути {value}",
    "zoned": "має містити {zone}",
    "date_format": "має бути записано як {example}",
    "uuid_type": "має бути UUID",
    "uuid_parsing": "має бути UUID",
    "datetime_parsing": _DATE_TIME,
    "datetime_from_date_parsing": _DATE_TIME,
    "timezone_naive": "має бути без часового поясу",
    "timezone_aware": "має бути з часовим поясом",
    "date_parsing": _DATE,
    "date_from_datetime_parsing": _DATE,
    "date_from_datetime_inexact": _DATE,
    "time_type": _TIME,
    "time_parsing": _TIME,
    "time_delta_type": _DURATION,
    "time_delta_parsing": _DURATION,
    "decimal_type": "має бути десятковим числом",
    "decimal_parsing": "має бути десятковим числом",
    "bytes_type": "має бути в base64",
    "bytes_invalid_encoding": "має бути в base64",
    "union_tag_invalid": "{discriminator} має бути одним із {expected_tags}, а не '{tag}'",
    "union_tag_not_found": "має містити {discriminator}",
    "bad_key": "містить ключ, який не дозволено",
    "set_item_not_hashable": "не може бути масивом чи об'єктом",
    "value_error": "{error}",
    "assertion_error": "{error}",
    "json_invalid": "вкладено надто глибоко (щонайбільше 200 рівнів)",
    "error.ParseError": "Сервер отримав хибний JSON.",
    "error.InvalidRequest": "Надісланий JSON не є правильним запитом.",
    "error.MethodNotFound": "Метод не знайдено",
    "error.InvalidParams": "Не передано обов'язковий параметр",
    "error.AssertionFailed": "Хибні дані",
    "error.InternalError": "Внутрішня помилка JSON-RPC",
    "error.RuntimeFault": "Помилка виконання процедури",
    "error.LogicError": "Логічна помилка процедури",
    "error.LockedError": "Метод зайнятий іншим викликом",
    "error.TokenNotSent": "Немає доступу. Токен не передано",
    "error.TokenInvalid": "Доступ заборонено. Хибний токен",
    "error.DataNotFound": "Дані не знайдено",
    "error.AsyncError": "Хибний асинхронний запит",
    "error.BatchError": "Помилка пакетного запиту",
    "error.ServerError": "Помилка сервера RPC",
    "error.ApplicationError": "Помилка застосунку",
    "error.no_method": 'Група "{group}" не має методу "{method}" у версії {version}',
    "error.locked": "{method} зайнятий іншим викликом",
    "error.deadline": "Виклик не вклався у свій термін: {seconds} с",
    "error.misfit": "Хибні аргументи для {tool}: {faults}",
    "error.empty_batch": "Пакет містить щонайменше один запит",
    "error.long_batch": "Пакет містить щонайбільше запитів: {most}, а в цьому їх {given}",
}

PRODUCT: Final[Mapping[str, Mapping[str, str]]] = {"uk": UKRAINIAN}
"""The product's own texts by language; English is the kernel's."""
