"""The catalog, by FORMAT.md, "System table"."""

import struct
from collections import namedtuple

from record_log import Damaged

SYSTEM_TABLE = 0
CATALOG_ROW = 1
BOOL, INT16, INT32, INT64, FLOAT, DOUBLE, DATE, UUID, REFERENCE, DECIMAL = range(1, 11)
TEXT, BYTES, VALUE = 16, 17, 18
SLOTS = {BOOL: 1, INT16: 2, INT32: 4, INT64: 8, FLOAT: 4, DOUBLE: 8, DATE: 8, UUID: 16, REFERENCE: 8, DECIMAL: 20}

# `defaults` has, for each layout, what it states: column ID -> (type, bytes).
Table = namedtuple("Table", "id next_column name layouts defaults")
Column = namedtuple("Column", "id type name")
Index = namedtuple("Index", "id table name extractor parts")
Part = namedtuple("Part", "column ascending collation")


class Cursor:
    """Reads little-endian numbers and names in turn."""

    def __init__(self, data, bounds):
        self.data = data
        self.at, self.end = bounds

    def take(self, code):
        size = struct.calcsize("<" + code)
        if self.at + size > self.end:
            raise Damaged(self.at, "a structure ends too early")
        (value,) = struct.unpack_from("<" + code, self.data, self.at)
        self.at += size
        return value

    def bytes(self, size):
        if self.at + size > self.end:
            raise Damaged(self.at, "a structure ends too early")
        self.at += size
        return bytes(self.data[self.at - size:self.at])

    def pointer(self):
        return self.take("Q"), self.take("Q")

    def name(self):
        size = self.take("I")
        if self.at + size > self.end:
            raise Damaged(self.at, "a name ends too late")
        self.at += size
        return bytes(self.data[self.at - size:self.at]).decode("utf-8")


def system_value(log, state, row):
    """A system row's body; None where there is none."""
    record = state.rows.get(SYSTEM_TABLE, {}).get(row)
    return bytes(log.data[record.body[0]:record.body[1]]) if record else None


class Catalog:
    """The tables and indexes as of a state."""

    def __init__(self, log, state):
        self.log = log
        self.tables, self.indexes = {}, {}
        record = state.rows.get(SYSTEM_TABLE, {}).get(CATALOG_ROW)
        if not record:
            return
        reader = Cursor(log.data, record.body)
        version = reader.take("B")
        if version not in (1, 2):
            raise Damaged(record.address, "a catalog of an unknown version")
        reader.take("H"), reader.take("H")
        for _ in range(reader.take("I")):
            table = Table(reader.take("H"), reader.take("H"), reader.name(), [], [])
            for _ in range(reader.take("I")):
                columns = []
                for _ in range(reader.take("I")):
                    columns.append(Column(reader.take("H"), reader.take("B"), reader.name()))
                    if columns[-1].type not in SLOTS and columns[-1].type not in (TEXT, BYTES, VALUE):
                        raise Damaged(record.address, f"a column of the unknown type {columns[-1].type}")
                table.layouts.append(columns)
                stated = {}
                for _ in range(reader.take("I") if version > 1 else 0):
                    id, size = reader.take("H"), reader.take("I")
                    column = next((column for column in columns if column.id == id), None)
                    raw = reader.bytes(size)
                    if not column or id in stated or column.type in (VALUE, REFERENCE) or SLOTS.get(column.type, size) != size or size > 1024:
                        raise Damaged(record.address, "a default is of no column, or not of its type")
                    stated[id] = (column.type, raw)
                table.defaults.append(stated)
            self.tables[table.id] = table
        for _ in range(reader.take("I")):
            index = Index(reader.take("H"), reader.take("H"), reader.name(), reader.name(), [])
            if index.table not in self.tables:
                raise Damaged(record.address, f"the index {index.name} is of no table")
            for _ in range(reader.take("I")):
                index.parts.append(Part(reader.take("H"), reader.take("B"), reader.take("B")))
                columns = [column for layout in self.tables[index.table].layouts for column in layout]
                if any((column.id, column.type) == (index.parts[-1].column, VALUE) for column in columns):
                    raise Damaged(record.address, f"the index {index.name} is over a column of large values")
            self.indexes[index.id] = index
        if reader.at != reader.end:
            raise Damaged(record.address, "bytes behind the catalog")

    def table_named(self, name):
        return next((table for table in self.tables.values() if table.name == name), None)
