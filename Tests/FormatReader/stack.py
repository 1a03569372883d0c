"""Entities and their objects in a record log, by docs/format/stack.md, and how `heartwood export` writes them."""

import base64
import json
import plistlib
from collections import namedtuple
from urllib.parse import quote

from catalog import Catalog, system_value
from rows import StoredDecimal, date_text, decimal_text, read_row

METADATA_ROW, MODEL_ROW = 8, 9
BOOLEAN, DATE, TRANSFORMABLE = 800, 900, 1800
ROW_BITS = 48

Property = namedtuple("Property", "owner name stated")  # owner: the name of the entity that states it


class Entity:
    """One entity: its own and its inherited properties."""

    def __init__(self, stated):
        self.name, self.stated, self.parent, self.children = stated["name"], stated, None, []

    @property
    def is_abstract(self):
        return self.stated.get("isAbstract", False)

    @property
    def properties(self):
        """Inherited ones first, then attributes, then relationships."""
        own = self.stated["attributes"] + self.stated["relationships"]
        return (self.parent.properties if self.parent else []) + [Property(self.name, each["name"], each) for each in own]

    def named(self, name):
        return next((each for each in self.properties if each.name == name), None)

    @property
    def family(self):
        """Itself and those below it, as far as objects can be made of them."""
        return ([] if self.is_abstract else [self]) + [entity for child in self.children for entity in child.family]

    @property
    def constraints(self):
        return (self.parent.constraints if self.parent else []) + self.stated.get("uniquenessConstraints", [])

    @property
    def unique_attribute(self):
        """The attribute that alone identifies an object."""
        return next((each[0] for each in self.constraints if len(each) == 1), None)


def is_relationship(property):
    return "destination" in property.stated


def is_to_many(property):
    return property.stated["maxCount"] != 1


def is_ordered(property):
    return property.stated.get("isOrdered", False)


class Stack:
    """The objects of a state."""

    def __init__(self, log, state):
        self.log, self.state = log, state
        self.catalog = Catalog(log, state)
        model = system_value(log, state, MODEL_ROW)
        if model is None:
            raise KeyError("the store holds no model")
        document = json.loads(model)
        if document["version"] != 1:
            raise KeyError(f"a model of version {document['version']}")
        self.entities = {stated["name"]: Entity(stated) for stated in document["entities"]}
        for entity in self.entities.values():
            if "parent" in entity.stated:
                entity.parent = self.entities[entity.stated["parent"]]
                entity.parent.children.append(entity)
        self.identifier = plistlib.loads(system_value(log, state, METADATA_ROW))["NSStoreUUID"]
        self._values, self._members = {}, {}

    # MARK: Rows

    def _table(self, name):
        table = self.catalog.table_named(name)
        if not table:
            raise KeyError(f"there is no table {name}")
        return table

    def values(self, table, row):
        """A row's values by column name; None where there is no such row. Columns that the row has not are left out."""
        reference = table.id << ROW_BITS | row
        if reference not in self._values:
            record = self.state.rows.get(table.id, {}).get(row)
            names = {column.id: column.name for column in table.layouts[-1]}
            self._values[reference] = record and {
                names[id]: value for id, (_, value) in read_row(self.catalog, record).items() if id in names}
        return self._values[reference]

    def _resolve(self, reference):
        table = self.catalog.tables[reference >> ROW_BITS]
        return table, reference & (1 << ROW_BITS) - 1

    def _numbers(self, table):
        return sorted(self.state.rows.get(table.id, {}))

    # MARK: Relationships

    def inverse(self, relationship):
        name = relationship.stated.get("inverse")
        return name and self.entities[relationship.stated["destination"]].named(name)

    def _has_links(self, relationship):
        inverse = self.inverse(relationship)
        return is_to_many(relationship) and (not inverse or is_to_many(inverse) or is_ordered(relationship))

    def _is_forward(self, relationship):
        inverse = self.inverse(relationship)
        if not inverse or inverse == relationship or not self._has_links(inverse):
            return True
        if is_ordered(relationship) != is_ordered(inverse):
            return is_ordered(relationship)
        return (relationship.owner, relationship.name) <= (inverse.owner, inverse.name)

    def _index_members(self, relationship):
        """Every member of a to-many relationship, by its owner, in order: reference -> references."""
        inverse, pairs = self.inverse(relationship), []
        if self._has_links(relationship):
            forward = self._is_forward(relationship)
            writer = relationship if forward else inverse
            table = self._table(f"link:{writer.owner}.{writer.name}")
            for number in self._numbers(table):
                link = self.values(table, number)
                source, destination, position = link["source"], link["destination"], link.get("position", 0)
                pairs.append((source, position, destination) if forward else (
                    destination, link.get("inversePosition", 0), source))
        else:
            for entity in self.entities[relationship.stated["destination"]].family:
                table = self._table(entity.name)
                for number in self._numbers(table):
                    owner = self.values(table, number).get(inverse.name)
                    if owner:
                        pairs.append((owner, 0, table.id << ROW_BITS | number))
        members = {}
        for owner, _, member in sorted(pairs):
            members.setdefault(owner, []).append(member)
        return members

    def destinations(self, table, row, relationship):
        """The references that a relationship of an object holds."""
        if not is_to_many(relationship):
            reference = self.values(table, row).get(relationship.name)
            return [reference] if reference else []
        place = relationship.owner, relationship.name
        if place not in self._members:
            self._members[place] = self._index_members(relationship)
        return self._members[place].get(table.id << ROW_BITS | row, [])

    # MARK: Export

    def uri(self, reference):
        table, row = self._resolve(reference)
        return f"x-coredata://{self.identifier}/{quote(table.name)}/p{row}"

    def _exported(self, entity):
        """Properties that are written: of two inverses on one entity the first alone."""
        exported, seen = [], []
        for property in entity.properties:
            if property.stated.get("isTransient"):
                continue
            if not (is_relationship(property) and self.inverse(property) in seen):
                exported.append(property)
            seen.append(property)
        return exported

    def export(self, name):
        """The lines of an entity's objects, by table and row number."""
        if name not in self.entities:
            raise KeyError(f"there is no entity {name}; the model has {', '.join(sorted(self.entities))}")
        properties = self._exported(self.entities[name])
        for entity in self.entities[name].family:
            table = self._table(entity.name)
            for row in self._numbers(table):
                values = {}
                for property in properties:
                    value = self._property(table, row, property)
                    if value is not None:
                        values[property.name] = value
                yield write_json(values)

    def _property(self, table, row, property):
        if not is_relationship(property):
            return plain(self.values(table, row).get(property.name), property.stated["type"])
        attribute_name = self.entities[property.stated["destination"]].unique_attribute
        keys = [self._object_key(reference, attribute_name) for reference in self.destinations(table, row, property)]
        if not is_to_many(property):
            return keys[0] if keys else None
        if not is_ordered(property):
            keys.sort(key=lambda key: key_text(key).encode())
        return keys or None

    def _object_key(self, reference, attribute_name):
        table, row = self._resolve(reference)
        values = self.values(table, row)
        if attribute_name and values and values.get(attribute_name) is not None:
            return plain(values[attribute_name], self.entities[table.name].named(attribute_name).stated["type"])
        # Where others of the entity have keys, a URI alone could be one.
        return {"@id": self.uri(reference)} if attribute_name else self.uri(reference)


# MARK: Values as JSON

def plain(value, type):
    """What stands for a stored value in JSON: text, a number, a truth value."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return date_text(value) if type == DATE else value
    if isinstance(value, StoredDecimal):
        return decimal_text(value)
    if isinstance(value, bytes):
        return unarchived(value) if type == TRANSFORMABLE else base64.b64encode(value).decode()
    return str(value).upper()  # a UUID


def unarchived(archive):
    """The text of a transformable's keyed archive; of text alone, since other classes have no text that is fixed."""
    document = plistlib.loads(archive)
    root = document["$objects"][document["$top"]["root"].data]
    if not isinstance(root, str):
        raise ValueError("a transformable that is no text")
    return root


def float_text(value):
    """The shortest digits that give the number back, in the notation of `heartwood export`."""
    if value != value or value in (float("inf"), float("-inf")):
        return '"nan"' if value != value else '"inf"' if value > 0 else '"-inf"'
    text = repr(value)
    if "e" not in text and abs(value) > 2.0 ** 53:
        digits = text.removesuffix(".0").lstrip("-")
        short = digits.rstrip("0")
        fraction = "." + short[1:] if len(short) > 1 else ""
        text = f"{'-' if value < 0 else ''}{short[0]}{fraction}e+{len(digits) - 1}"
    return text.removesuffix(".0")


def key_text(key):
    """What keys are sorted by."""
    if isinstance(key, dict):
        return key["@id"]
    if isinstance(key, bool):
        return "true" if key else "false"
    if isinstance(key, float):
        text = float_text(key)
        return text if "." in text or "e" in text else text.strip('"') + ".0"
    return str(key)


def write_json(value):
    """JSON as `heartwood export` writes it: keys sorted, no spaces, what is not ASCII as it is."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{write_json(key)}:{write_json(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(write_json, value)) + "]"
    if isinstance(value, float):
        return float_text(value)
    return json.dumps(value, ensure_ascii=False)
