"""A second reader of the models that Core Data keeps in its stores, with the standard library alone.

usage: model_cache.py STORES    each folder's store, as a line of JSON: its cache, metadata, and what the cache states
"""
import base64, json, os, plistlib, shutil, sqlite3, sys, tempfile, zlib


class Archive:
    def __init__(self, data):
        parts = plistlib.loads(data)
        self.objects = parts["$objects"]
        self.root = self.follow(parts["$top"]["root"])

    def follow(self, value):
        found = self.objects[value.data] if isinstance(value, plistlib.UID) else value
        return None if found == "$null" else found

    def name(self, thing):
        return self.follow(thing["$class"])["$classname"]

    def get(self, thing, key):
        found = self.follow(thing.get(key))
        return found["NS.string"] if isinstance(found, dict) and "NS.string" in found else found

    def members(self, thing, key):
        found = self.get(thing, key)
        return [self.follow(one) for one in found["NS.objects"]] if found else []

    def entries(self, thing, key):
        found = self.get(thing, key)
        if not found:
            return {}
        if "searchMapping" in found:
            names, values = self.get(self.get(found, "searchMapping"), "keys"), self.get(found, "values")
            return dict(zip(map(self.follow, names["NS.objects"]), map(self.follow, values["NS.objects"])))
        return dict(zip(map(self.follow, found["NS.keys"]), map(self.follow, found["NS.objects"])))


def words(archive, thing):
    """What attributes and relationships have in common."""
    bits, flags, found = thing["_P"], thing.get("NSFlagsKey", 0), []
    for mask, of, word in (
            (2, bits, "optional"), (8, bits, "transient"), (0x400, bits, "ordered"), (4, flags, "external"), (16, flags, "preserved")):
        if of & mask:
            found.append(word)
    for key, word in (("NSRenamingIdentifier", "was"), ("NSVersionHashModifier", "modifier"), ("NSValueTransformerName", "by")):
        text = archive.get(thing, key)
        if text and text != archive.get(thing, "NSPropertyName"):
            found.append(f"{word}={text}")
    return found


def default(value):
    if isinstance(value, (bool, int, float)):
        return repr(float(value))
    if isinstance(value, dict) and "NS.time" in value:
        return repr(float(value["NS.time"]))
    return value if isinstance(value, str) else "object"


def described(archive, thing):
    kind = archive.name(thing)
    if kind == "_NSPropertyDescriptionProxy":
        return described(archive, archive.follow(thing["NSUnderlyingProperty"]))
    if kind == "NSFetchedPropertyDescription":
        return "fetched"
    if kind == "NSRelationshipDescription":
        most = max(thing["NSMaxCount"], 0)
        line = ["relationship", archive.get(thing, "_NSDestinationEntityName"), archive.get(thing, "_NSInverseRelationshipName") or "-"]
        return " ".join(line + [f"{thing['NSMinCount']}..{most}", f"rule={thing['NSDeleteRule']}"] + words(archive, thing))
    line = ["derived" if kind == "NSDerivedAttributeDescription" else "attribute", str(thing["NSAttributeType"])] + words(archive, thing)
    rules = len(archive.members(thing, "NSValidationPredicates"))
    value = archive.get(thing, "NSDefaultValue")
    if value is not None and thing["NSAttributeType"] not in (1800, 2100):
        line.append(f"default={default(value)}")
    return " ".join(line + ([f"rules={rules}"] if rules else []))


def model(data):
    archive, found = Archive(data), {}
    for name, entity in archive.entries(archive.root, "NSEntities").items():
        parent = archive.get(entity, "NSSuperentity")
        indexes = archive.members(entity, "NSFetchIndexDescriptions")
        found[name] = {
            "parent": archive.get(parent, "NSEntityName") if parent else None, "abstract": entity.get("NSIsAbstract", False),
            "class": archive.get(entity, "NSClassNameForEntity") or "NSManagedObject",
            "unique": [[archive.follow(one) for one in tuple["NS.objects"]] for tuple in archive.members(entity, "NSUniqueTuples")],
            "indexes": sorted(archive.get(one, "NSIndexName") for one in indexes) if "NSFetchIndexDescriptions" in entity else None,
            "properties": {key: described(archive, one) for key, one in archive.entries(entity, "NSProperties").items()},
        }
    return found


def stores(folder):
    for name in sorted(os.listdir(folder)):
        files = sorted(os.listdir(os.path.join(folder, name))) if os.path.isdir(os.path.join(folder, name)) else []
        paths = [os.path.join(folder, name, file) for file in files if not file.endswith(("-wal", "-shm"))]
        for path in (path for path in paths if os.path.isfile(path) and open(path, "rb").read(15) == b"SQLite format 3"):
            # SQLite writes beside a file that it reads.
            with tempfile.TemporaryDirectory() as copies:
                for end in ("", "-wal"):
                    if os.path.exists(path + end):
                        shutil.copy(path + end, os.path.join(copies, "store" + end))
                base = sqlite3.connect(os.path.join(copies, "store"))
                has = base.execute("select count(*) from sqlite_master where name = 'Z_MODELCACHE'").fetchone()[0]
                cache = base.execute("select Z_CONTENT from Z_MODELCACHE").fetchone() if has else None
                metadata = base.execute("select Z_PLIST from Z_METADATA").fetchone()
                base.close()
            cache, text = cache[0] if cache else None, lambda data: base64.b64encode(data).decode() if data else None
            yield {
                "folder": name, "cache": text(cache), "metadata": text(metadata[0]),
                "model": model(zlib.decompress(cache, -15)) if cache else None,
            }


if __name__ == "__main__":
    for store in stores(sys.argv[1]):
        print(json.dumps(store))
