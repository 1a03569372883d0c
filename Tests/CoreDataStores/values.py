"""Turns the values of descriptions into the values of columns, and into those that a reader has to find.

A value is plain JSON. A long or binary one is an object: {"repeat": "ab", "count": 9} is a text or its bytes, {"hex": "00ff"} are
bytes, {"archive": ["a"]} is a keyed archive, {"file": VALUE} lies beside the store, and the file of {"missing": true} is not there.
"""
import base64, decimal, plistlib, struct, uuid

from reading import date_text, decimal_text

NAMESPACE = uuid.UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8")


def identifier(text):
    """A UUID that depends on the text alone, so that a store is the same each time."""
    return str(uuid.uuid5(NAMESPACE, text)).upper()


def keyed_archive(value):
    """A keyed archive of a text, or of an array of texts."""
    objects, uid = ["$null"], plistlib.UID

    def add(one):
        objects.append(one)
        return uid(len(objects) - 1)
    if isinstance(value, str):
        root = add(value)
    else:
        members = [add(one) for one in value]
        root = add({"NS.objects": members, "$class": add({"$classname": "NSArray", "$classes": ["NSArray", "NSObject"]})})
    parts = {"$version": 100000, "$archiver": "NSKeyedArchiver", "$top": {"root": root}, "$objects": objects}
    return plistlib.dumps(parts, fmt=plistlib.FMT_BINARY)


def expanded(value):
    if not isinstance(value, dict):
        return value
    if "repeat" in value:
        return value["repeat"] * value["count"]
    return bytes.fromhex(value["hex"]) if "hex" in value else keyed_archive(value["archive"])


class Values:
    """Stores values, and keeps the files that are to lie beside the store."""
    def __init__(self, name):
        self.name, self.files = name, {}

    def stored(self, value, attribute, place):
        """The value of the column. `place` names the value, for the name of its file."""
        if value is None:
            return None
        if not attribute.external:
            return plain(expanded(value), attribute.type)
        if isinstance(value, dict) and ("file" in value or "missing" in value):
            file = identifier(f"{self.name} {place}")
            if "file" in value:
                self.files[file] = plain(expanded(value["file"]), "data")
            return b"\2" + file.encode() + b"\0"
        return b"\1" + plain(expanded(value), "data")

    def expected(self, value, attribute, place):
        if value is None:
            return None
        if isinstance(value, dict) and "missing" in value:
            return {"missing": identifier(f"{self.name} {place}")}
        if isinstance(value, dict) and "file" in value:
            value = value["file"]
        found, kind = plain(expanded(value), attribute.type), attribute.type
        if kind == "decimal":
            return decimal_text(int(found) if found.is_integer() and abs(found) < 2**63 else found)
        if kind in ("data", "transformable"):
            return base64.b64encode(found).decode()
        return EXPECTED[kind](found) if kind in EXPECTED else found


EXPECTED = {"bool": bool, "date": date_text, "uuid": lambda data: str(uuid.UUID(bytes=data)).upper()}


def plain(value, kind):
    """The value as it is bound to a statement."""
    if kind == "decimal":
        return float(decimal.Decimal(value))
    if kind == "float":
        return struct.unpack("<f", struct.pack("<f", value))[0]
    if kind in ("double", "date"):
        return float(value)
    if kind == "uuid":
        return uuid.UUID(value).bytes
    if kind == "bool":
        return int(value)
    if kind in ("data", "transformable") and isinstance(value, str):
        return value.encode()
    return value
