"""The history of a store, by docs/format/stack.md, "History"."""

from struct import unpack_from

from catalog import SLOTS, VALUE, BYTES, TEXT, system_value
from record_log import Damaged
from rows import read_row

NAME = "history:transactions"
ROW_BITS, FALLS_ROW = 48, 13
TABLE, INSERTIONS, UPDATES, DELETIONS, PROPERTIES, PRESERVED_COLUMNS, PRESERVED_DELETION = range(1, 8)


class Items:
    """Reads the items of a transaction's changes."""

    def __init__(self, data, place):
        self.data, self.at, self.place = data, 0, place

    def damaged(self, message):
        return Damaged(self.place, f"a transaction's changes are wrong: {message}")

    def take(self, count):
        if self.at + count > len(self.data):
            raise self.damaged("they end too early")
        self.at += count
        return self.data[self.at - count:self.at]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value
            if shift > 56:
                raise self.damaged("a number is too long")


def changes(data, place):
    """-> (sign, table, row, properties): a property is a column's ID or a name."""
    items, table, following, properties, columns = Items(data, place), 0, 1, [], []
    while items.at < len(data):
        word = items.varint()
        kind, argument = word & 7, word >> 3
        if kind == TABLE:
            if argument <= table:
                raise items.damaged("tables are not in order")
            table, following, properties, columns = argument, 1, [], []
        elif kind == PROPERTIES:
            properties = []
            for _ in range(argument):
                each = items.varint()
                properties.append(items.take(each >> 1).decode("utf-8") if each & 1 else each >> 1)
        elif kind == PRESERVED_COLUMNS:
            columns = [(items.varint(), items.take(1)[0]) for _ in range(argument)]
            if any(type not in SLOTS and type not in (TEXT, BYTES) or type == VALUE for _, type in columns):
                raise items.damaged("a column is of no type")
        elif kind in (INSERTIONS, UPDATES, DELETIONS, PRESERVED_DELETION):
            if not table:
                raise items.damaged("rows of no table")
            row = following + items.varint()
            following = row + (1 if kind == PRESERVED_DELETION else argument + 1)
            if kind == PRESERVED_DELETION:
                items.take(argument)
            for each in range(row, following):
                yield {INSERTIONS: "+", UPDATES: "*"}.get(kind, "-"), table, each, properties if kind == UPDATES else []
        else:
            raise items.damaged("an item of no kind")


def falls(log, state, table):
    """-> (whether the beginning is in no order, numbers)"""
    data = system_value(log, state, FALLS_ROW)
    if data is None:
        return False, []
    if len(data) < 4 or data[0] != 1 or data[1] > 1 or len(data) % 8 != 4:
        return True, []
    if unpack_from("<H", data, 2)[0] != table.id:
        return False, []
    return data[1] == 1, [unpack_from("<Q", data, place)[0] for place in range(4, len(data), 8)]


def transactions(log, state, catalog):
    """-> (number, changes), in order; nothing where the store has no history."""
    table = catalog.table_named(NAME)
    if not table:
        return
    last, before = None, 0
    is_mixed, numbers = falls(log, state, table)
    for number, record in sorted(state.rows.get(table.id, {}).items()):
        values = {column.name: value for column, (_, value) in zip(table.layouts[0], read_row(catalog, record).values())}
        # The fall itself may be deleted.
        may_fall = any(before < each <= number for each in numbers) or is_mixed and (not numbers or number < numbers[0])
        if last is not None and values["timestamp"] <= last and not may_fall:
            raise Damaged(record.address, "a transaction is not later than the one before, and is not listed as such")
        last, before = values["timestamp"], number
        yield number, list(changes(values["changes"], record.address))


def lines(stack):
    """The transactions' numbers and their changes, as `heartwood history` writes them."""
    for number, found in transactions(stack.log, stack.state, stack.catalog):
        yield str(number)
        for sign, table, row, properties in found:
            columns = {column.id: column.name for column in stack.catalog.tables[table].layouts[-1]}
            names = sorted({each if isinstance(each, str) else columns[each] for each in properties})
            yield f"  {sign}{stack.uri(table << ROW_BITS | row)}" + (f"  {', '.join(names)}" if names else "")
