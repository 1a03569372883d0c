"""Row bodies and index keys, by FORMAT.md, "Row body" and "Keys"."""

import datetime
import struct
import uuid
from collections import namedtuple
from decimal import Decimal

from catalog import (
    BOOL, DATE, DECIMAL, DOUBLE, FLOAT, INT16, INT32, INT64, REFERENCE, SLOTS, TEXT, UUID)
from record_log import Damaged

NUMBERS = {BOOL: "<B", INT16: "<h", INT32: "<i", INT64: "<q", FLOAT: "<f", DOUBLE: "<d", DATE: "<d", REFERENCE: "<Q"}

# `mantissa * 10 ** exponent`, as it is stored; not a number where `mantissa` is None.
StoredDecimal = namedtuple("StoredDecimal", "mantissa exponent negative")


def read_row(catalog, record):
    """A row's columns: column ID -> (type, value), None for null. Columns that the row's layout has not are left out."""
    log, table = catalog.log, catalog.tables.get(record.table)
    start, end = record.body
    if not table or end - start < 2:
        raise Damaged(record.address, "a row of no table")
    (word,) = struct.unpack_from("<H", log.data, start)
    layout, width = word & 0x3FFF, word >> 14
    if layout >= len(table.layouts):
        raise Damaged(record.address, "a row of no layout")
    columns = table.layouts[layout]
    bitmap = start + 2
    at = bitmap + (len(columns) + 7) // 8
    variable = [column for column in columns if column.type not in SLOTS]
    if width > 2 or (width and not variable):
        raise Damaged(record.address, "a row's end offsets have no size")
    wide = 1 << width
    ends = at + sum(SLOTS.get(column.type, 0) for column in columns)
    heap = ends + wide * max(0, len(variable) - 1)
    if heap > end or (heap != end and not variable):
        raise Damaged(record.address, "a row's body is not as long as its layout")
    fields, before = {}, 0
    for place, column in enumerate(columns):
        null = log.data[bitmap + place // 8] >> place % 8 & 1
        if column.type in SLOTS:
            size = SLOTS[column.type]
            raw = bytes(log.data[at:at + size])
            at += size
            value = _fixed(column.type, raw)
            blank = not any(raw)
        else:
            if column is variable[-1]:
                after = end - heap
            else:
                after = int.from_bytes(log.data[ends:ends + wide], "little")
                ends += wide
            if after < before or heap + after > end:
                raise Damaged(record.address, "a row's end offsets are wrong")
            raw = bytes(log.data[heap + before:heap + after])
            before = after
            value = raw.decode("utf-8", "replace") if column.type == TEXT else raw
            blank = not raw
        if null and not blank:
            raise Damaged(record.address, f"the null column {column.name} has a value")
        fields[column.id] = column.type, None if null else value
    for place in range(len(columns), (len(columns) + 7) // 8 * 8):
        if not log.data[bitmap + place // 8] >> place % 8 & 1:
            raise Damaged(record.address, "the null bitmap is wrong past the last column")
    return fields


def index_entry(catalog, index, record):
    """A row's entry in an index: the components of its key, and its number."""
    fields = read_row(catalog, record)
    entry = b""
    for part in index.parts:
        component = key_component(*fields.get(part.column, (None, None)))
        entry += component if part.ascending else bytes(255 - byte for byte in component)
    return entry + record.row.to_bytes(6, "big")


def _fixed(type, raw):
    if type in NUMBERS:
        value = struct.unpack(NUMBERS[type], raw)[0]
        return value != 0 if type == BOOL else value
    if type == UUID:
        return uuid.UUID(bytes=raw)
    exponent, flags = struct.unpack_from("<hB", raw, 16)
    return StoredDecimal(None if flags & 2 else int.from_bytes(raw[:16], "little"), exponent, bool(flags & 1))


def key_component(type, value):
    """One component of a key, before a descending one is complemented."""
    if value is None:
        return b"\1"
    return b"\2" + _key_value(type, value)


def _key_value(type, value):
    if type in (INT16, INT32, INT64):
        return (value + (1 << 63)).to_bytes(8, "big")
    if type == BOOL:
        return bytes([value])
    if type in (FLOAT, DOUBLE, DATE):
        if value != value:
            return bytes(8)
        (bits,) = struct.unpack(">Q", struct.pack(">d", value + 0.0))  # -0 + 0 is +0
        return (bits ^ 0xFFFFFFFFFFFFFFFF if bits >> 63 else bits | 1 << 63).to_bytes(8, "big")
    if type == UUID:
        return value.bytes
    if type == REFERENCE:
        return value.to_bytes(8, "big")
    if type == DECIMAL:
        return _decimal_key(value)
    raw = value.encode("utf-8") if type == TEXT else value
    return raw.replace(b"\1", b"\1\2").replace(b"\0", b"\1\1") + b"\0"


def _decimal_key(value):
    if value.mantissa is None:
        return b"\0"
    if value.mantissa == 0:
        return b"\2"
    digits = str(value.mantissa)
    power = value.exponent + len(digits)  # of the first digit, and one
    rest = (power + (1 << 31)).to_bytes(4, "big") + bytes(int(digit) + 1 for digit in digits.rstrip("0")) + b"\0"
    return b"\1" + bytes(255 - byte for byte in rest) if value.negative else b"\3" + rest


def decimal_text(value):
    """A decimal in digits, without an exponent."""
    if value.mantissa is None:
        return "NaN"
    number = Decimal((int(value.negative), [int(digit) for digit in str(value.mantissa)], value.exponent))
    text = format(number, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if value.mantissa == 0 else text


def date_text(seconds):
    """A date in ISO 8601 with milliseconds, cut off. In the Gregorian calendar: `heartwood export` has the Julian before 1582."""
    whole = int(seconds // 1)
    milliseconds = int((seconds - whole) * 1e9) // 1_000_000
    moment = datetime.datetime(2001, 1, 1) + datetime.timedelta(seconds=whole)
    return f"{moment.year:04}-{moment:%m-%dT%H:%M:%S}.{milliseconds:03}Z"
