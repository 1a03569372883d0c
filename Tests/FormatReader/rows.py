"""Row bodies and index keys, by FORMAT.md, "Row body" and "Keys"."""

import datetime
import struct
import uuid
from collections import namedtuple
from decimal import Decimal

from catalog import (
    BOOL, DATE, DECIMAL, DOUBLE, FLOAT, INT16, INT32, INT64, REFERENCE, SLOTS, TEXT, UUID, VALUE)
from record_log import VALUE_CHUNK, VALUE_LIST, Damaged

NUMBERS = {BOOL: "<B", INT16: "<h", INT32: "<i", INT64: "<q", FLOAT: "<f", DOUBLE: "<d", DATE: "<d", REFERENCE: "<Q"}

# `mantissa * 10 ** exponent`, as it is stored; not a number where `mantissa` is None.
StoredDecimal = namedtuple("StoredDecimal", "mantissa exponent negative")


# What a row keeps of a value that lies outside it.
ValueReference = namedtuple("ValueReference", "form length pointer")
ONE_CHUNK, LIST = 1, 2


def read_row(catalog, record):
    """A row's columns: column ID -> (type, value), None for null. A column that the row's layout lacks is there only with a default."""
    return {
        id: (type, read_value(catalog.log, record.address, value) if isinstance(value, ValueReference) else value)
        for id, (type, value) in read_body(catalog, record).items()}


def value_references(catalog, record):
    """The values of a row that lie outside it."""
    if not any(column.type == VALUE for layout in catalog.tables[record.table].layouts for column in layout):
        return []
    return [value for _, value in read_body(catalog, record).values() if isinstance(value, ValueReference)]


def read_value(log, holder, reference):
    """The bytes of a value in frames of its own."""
    if reference.form == ONE_CHUNK:
        pieces, offset = [(reference.pointer, reference.length)], holder
    else:
        frame = log.pointed(reference.pointer, VALUE_LIST, holder)
        start, end = frame.payload
        length, chunk = struct.unpack_from("<QQ", log.data, start) if end - start >= 16 else (0, 0)
        pointers = list(struct.iter_unpack("<QQ", log.data[start + 16:end])) if (end - start) % 16 == 0 else []
        if length != reference.length or not chunk or len(pointers) != -(-length // chunk):
            raise Damaged(frame.offset, "a list of chunks is wrong")
        if any(a[0] >= b[0] for a, b in zip(pointers, pointers[1:])):
            raise Damaged(frame.offset, "a list of chunks is not in order")
        pieces = [(pointer, min(chunk, length - place * chunk)) for place, pointer in enumerate(pointers)]
        offset = frame.offset
    value = b""
    for pointer, length in pieces:
        start, end = log.pointed(pointer, VALUE_CHUNK, offset).payload
        if end - start != length:
            raise Damaged(pointer[0], "a chunk of a value has another length")
        value += log.data[start:end]
    return bytes(value)


def _stored_value(record, raw):
    """A value that is in its row, or where it is."""
    if raw[:1] == b"\0":
        return raw[1:]
    if len(raw) != 25 or raw[0] not in (ONE_CHUNK, LIST):
        raise Damaged(record.address, "a row's value is wrong")
    length, offset, checksum = struct.unpack_from("<QQQ", raw, 1)
    if not length:
        raise Damaged(record.address, "a value without bytes lies outside its row")
    return ValueReference(raw[0], length, (offset, checksum))


def read_body(catalog, record):
    """The same as `read_row`, with references in place of the values that lie outside the row."""
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
            blank = not raw
            value = raw.decode("utf-8", "replace") if column.type == TEXT else raw
            if column.type == VALUE and not null:
                value = _stored_value(record, raw)
        if null and not blank:
            raise Damaged(record.address, f"the null column {column.name} has a value")
        fields[column.id] = column.type, None if null else value
    for place in range(len(columns), (len(columns) + 7) // 8 * 8):
        if not log.data[bitmap + place // 8] >> place % 8 & 1:
            raise Damaged(record.address, "the null bitmap is wrong past the last column")
    decided = set()
    for stated in table.defaults[layout + 1:]:
        for id, (type, raw) in stated.items():
            own_type, own = fields.get(id, (type, None))
            if id not in decided and own is None and own_type == type:
                fields[id] = type, _stated_value(type, raw)
            decided.add(id)
    return fields


def _stated_value(type, raw):
    if type in SLOTS:
        return _fixed(type, raw)
    return raw.decode("utf-8", "replace") if type == TEXT else raw


def index_entry(catalog, index, record):
    """A row's entry in an index: the components of its key, and its number."""
    fields = read_body(catalog, record)
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
    """A date in ISO 8601 with as many digits as lead back to it. In the Gregorian calendar: `heartwood export` has the Julian before 1582."""
    whole = int(seconds // 1)
    texts = (f"{seconds - whole:.{count}f}" for count in range(3, 18))
    fraction = next(text[2:] for text in texts if text.startswith("0.") and whole + float(text) == seconds)
    moment = datetime.datetime(2001, 1, 1) + datetime.timedelta(seconds=whole)
    return f"{moment.year:04}-{moment:%m-%dT%H:%M:%S}.{fraction}Z"
