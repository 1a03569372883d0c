"""Made everything.cache and everything.json: a model cache with each kind of property in each combination, and what a reader finds in it.

The files are not made again: a change of the format gets files of its own.
"""
import itertools, json, os

from cache_archive import UID, CacheArchive

archive, expected = CacheArchive(), {}
add, thing, text, mutable, array = archive.add, archive.thing, archive.text, archive.mutable, archive.array
dictionary, self_expression, path, comparison = archive.dictionary, archive.self_expression, archive.path, archive.comparison
common = archive.property_head


# Properties. Each is written for an entity, so that subentities may have copies.
def decimal():
    """-12.5"""
    mantissa = (125).to_bytes(2, "little") + bytes(14)
    keys = {"mantissa": mantissa, "mantissa.bo": 1, "exponent": -1, "length": 1, "negative": True, "compact": True}
    return add(thing("NSDecimalNumber", **{f"NS.{key}": value for key, value in keys.items()}))


# A value that is archived as an object stands beside the text by which it is shown.
DEFAULTS = {
    100: -7, 200: 70000, 300: 1 << 40, 400: (decimal, "object"), 500: 2.5, 600: -0.25, 700: "naïve ☕", 800: True,
    900: (lambda: add(thing("NSDate", **{"NS.time": -946688700.5})), "-946688700.5"),
    1000: (lambda: add(thing("NSMutableData", **{"NS.data": b"\0\1\2"})), "object"),
    1100: (lambda: add(thing("NSUUID", **{"NS.uuidbytes": bytes(range(16))})), "object"),
    1200: (lambda: add(thing("NSURL", **{"NS.base": UID(0), "NS.relative": text("https://a.example/b")})), "object"),
}
TYPES = [0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200, 1800]


class Attribute:
    def __init__(
            self, name, type, bits=0, flags=0, value=None, was=None, modifier=None, by=None, rules=0, kind="NSAttributeDescription",
            own_keys=True, **more):
        self.name, self.type, self.bits, self.flags, self.value, self.was, self.modifier = name, type, bits, flags, value, was, modifier
        self.by, self.rules, self.kind, self.own_keys, self.more = by, rules, kind, own_keys, more

    def write(self, entity):
        value = self.value[0]() if isinstance(self.value, tuple) else text(self.value)
        found = common(self.name, entity, self.bits, self.was, self.modifier, self.own_keys)
        found.update(NSAttributeType=self.type, NSFlagsKey=self.flags, NSDefaultValue=value, NSValueTransformerName=text(self.by))
        if self.rules:
            found["NSValidationPredicates"] = array([comparison(self_expression(), 3 - 2 * place, place * 9) for place in range(self.rules)])
            found["NSValidationWarnings"] = array([add(1620 - 10 * place) for place in range(self.rules)])
        found.update({key: make() for key, make in self.more.items()})
        return add(thing(self.kind, **found))

    def line(self):
        line = ["derived" if "Derived" in self.kind else "attribute", str(self.type)]
        line += [word for bit, word in ((2, "optional"), (8, "transient")) if self.bits & bit]
        line += [word for bit, word in ((4, "external"), (16, "preserved")) if self.flags & bit]
        line += [f"{word}={value}" for word, value in (("was", self.was), ("modifier", self.modifier), ("by", self.by)) if value]
        if self.value is not None:
            value = self.value[1] if isinstance(self.value, tuple) else self.value
            line.append("default=" + (value if isinstance(value, str) else repr(float(value))))
        return " ".join(line + ([f"rules={self.rules}"] if self.rules else []))


class Relationship:
    def __init__(self, name, destination, inverse=None, least=0, most=1, rule=1, bits=2, **more):
        self.name, self.destination, self.inverse = name, destination, inverse
        self.least, self.most, self.rule, self.bits = least, most, rule, bits
        self.was, self.modifier, self.own_keys = more.get("was"), more.get("modifier"), more.get("own_keys", True)

    def write(self, entity):
        found = common(self.name, entity, self.bits, self.was, self.modifier, self.own_keys)
        return add(thing(
            "NSRelationshipDescription", **found, _NSDestinationEntityName=text(self.destination), _NSInverseRelationshipName=text(self.inverse),
            NSDestinationEntity=places[self.destination], NSInverseRelationship=UID(0), NSMinCount=self.least,
            NSMaxCount=-1 if self.most == 0 and self.least else self.most, NSDeleteRule=self.rule))

    def line(self):
        line = ["relationship", self.destination, self.inverse or "-", f"{self.least}..{self.most}", f"rule={self.rule}"]
        line += [word for bit, word in ((2, "optional"), (8, "transient"), (0x400, "ordered")) if self.bits & bit]
        return " ".join(line + [f"{word}={value}" for word, value in (("was", self.was), ("modifier", self.modifier)) if value])


class Fetched:
    name = "fetched"

    def write(self, entity):
        request = add(thing("NSFetchRequest", NSEntity=places["Other"], NSFetchLimit=3, NSPredicate=comparison(path("number"), 2, 4)))
        found = common(self.name, entity, 2 | 4 | 8, None, None, True)
        return add(thing("NSFetchedPropertyDescription", **found, NSFetchRequest=request, _NSFetchRequestEntityName=text("Other")))

    def line(self):
        return "fetched"


def attributes():
    for place, (type, optional, transient, preserved) in enumerate(itertools.product(TYPES, (0, 2), (0, 8), (0, 16))):
        for external in (0, 4) if type in (700, 1000, 1800) and not transient else (0,):
            for has in (False, True) if type in DEFAULTS else (False,):
                letters = "".join(letter for letter, is_set in zip("otped", (optional, transient, preserved, external, has)) if is_set)
                yield Attribute(
                    f"a{type}{letters}", type, optional | transient, preserved | external, DEFAULTS[type] if has else None,
                    was=f"former{type}" if place % 5 == 0 else None, modifier=str(place) if place % 7 == 0 else None,
                    by="NSSecureUnarchiveFromData" if type == 1800 else None, rules=place % 3 if type in (100, 200, 300, 500, 600) else 0,
                    own_keys=place % 2 == 0)


def relationships():
    """Those of Other, and their inverses of Thing."""
    forth, back = [], []
    counts = itertools.cycle(((0, 0), (1, 0), (1, 5), (0, 5)))
    for place, (is_many, ordered, optional, transient, rule, has) in enumerate(
            itertools.product((0, 1), (0, 0x400), (0, 2), (0, 8), range(4), (0, 1))):
        if ordered and not is_many or transient and has:
            continue
        least, most = next(counts) if is_many else (0 if optional else 1, 1)
        name, inverse = f"r{place}", f"i{place}" if has else None
        forth.append(Relationship(
            name, "Thing", inverse, least, most, rule, optional | transient | ordered, was=f"old{place}" if place % 3 == 0 else None,
            modifier="v" if place % 4 == 0 else None, own_keys=place % 2 == 0))
        if has:
            back.append(Relationship(inverse, "Other", name, 0, (0, 1)[place // 2 % 2], 1, 2, own_keys=place % 2 == 1))
    return forth, back


forth, back = relationships()
composite = [Attribute("street", 700, 2), Attribute("number", 200, 2, value=1)]
nested = Attribute("place", 2100, 2, kind="NSCompositeAttributeDescription", NSElements=lambda: array([one.write(UID(0)) for one in composite]))
own = {
    "Thing": list(attributes()) + back,
    "Middle": [Attribute("middle", 700), Relationship("leaf", "Leaf", "middles")],
    "Leaf": [
        Attribute("leafName", 700, 2), Relationship("middles", "Middle", "leaf", 0, 0, 2, 2 | 0x400), Relationship("same", "Leaf", "same", 0, 0)],
    "Other": forth + [
        Attribute("number", 200, 2), Attribute("other", 700, 2),
        Attribute("twice", 300, 2 | 4, kind="NSDerivedAttributeDescription", NSDerivationExpression=lambda: path("number")),
        Attribute("address", 2100, 2, kind="NSCompositeAttributeDescription", NSElements=lambda: array(
            [nested.write(UID(0)), Attribute("note", 700, 2).write(UID(0))])),
        Fetched(),
    ],
    "Former": [Attribute("one", 700, 2, NSIsIndexed=lambda: True), Attribute("two", 200, 2), Attribute("three", 900, 2)],
    "Empty": [],
}
parents = {"Middle": "Thing", "Leaf": "Middle"}
places = {name: add(None) for name in own}
written = {}


def properties(name):
    """An entity's own properties, then those that it inherits: copies and proxies by turns."""
    found = {one.name: one.write(places[name]) for one in own[name]}
    written[name] = dict(found)
    parent = parents.get(name)
    while parent:
        for place, one in enumerate(own[parent]):
            proxy = dict(NSUnderlyingProperty=written[parent][one.name], NSEntityDescription=places[name], NSReferenceID=place)
            found[one.name] = add(thing("_NSPropertyDescriptionProxy", **proxy)) if place % 2 else one.write(places[name])
        parent = parents.get(parent)
    return found


def index(name, elements, predicate=UID(0)):
    return add(thing("NSFetchIndexDescription", NSIndexName=mutable(name), NSIndexElements=array(elements), NSPartialIndexPredicate=predicate))


def element(name, ascending=True, **more):
    values = {"NSAscending": True} if ascending else {}
    return add(thing("NSFetchIndexElementDescription", NSPropertyName=text(name), NSFetchIndexElementType=0, **values, **more))


def expression_element():
    computed = add(thing("NSExpressionDescription", NSPropertyName=text("expression1"), NSExpressionType=200, NSExpression=path("number")))
    return element("expression1", NSIndexedProperty=computed)


for name in own:
    former = name == "Former"
    values = dict(
        NSEntityName=text(name), NSClassNameForEntity=text(None if name == "Empty" else f"Module.{name}"),
        NSSuperentity=places.get(parents.get(name), UID(0)),
        NSProperties=dictionary(properties(name)), NSRenamingIdentifier=text("Ancient" if former else name),
        NSVersionHashModifier=text("r5" if name == "Leaf" else None),
        NSUserInfo=dictionary({"key": text("value")} if name == "Other" else {}, "NSDictionary"))
    if name == "Thing":
        values["NSIsAbstract"] = True
    unique = {"Other": [["number", "other"], ["other"]], "Former": [["one"]]}.get(name, [])
    if unique:
        values["NSUniqueTuples"] = array([array([text(one) for one in tuple]) for tuple in unique])
    if name == "Other":
        values["NSFetchIndexDescriptions"] = array([
            index("byNumber", [element("number"), element("other", False)]), index("some", [element("other")], comparison(path("number"), 2, 3)),
            index("computed", [expression_element()])])
    if former:
        values["NSCompoundIndexes"] = array([array([text("two"), text("three")])])
    archive.objects[places[name].data] = thing("NSEntityDescription", **values)
    lines, ancestor = {one.name: one.line() for one in own[name]}, parents.get(name)
    while ancestor:
        lines.update({one.name: one.line() for one in own[ancestor]})
        ancestor = parents.get(ancestor)
    expected[name] = {
        "parent": parents.get(name), "abstract": name == "Thing", "class": "NSManagedObject" if name == "Empty" else f"Module.{name}",
        "unique": unique, "indexes": {"Other": ["byNumber", "computed", "some"], "Former": ["one", "two_three"]}.get(name, []), "properties": lines,
    }

template = add(thing(
    "NSFetchRequest", NSEntity=places["Other"], NSFetchLimit=0, NSPredicate=comparison(path("number"), 4, 4),
    NSSortDescriptors=array([add(thing("NSSortDescriptor", NSKey=text("other"), NSAscending=True, NSSelector=text("compare:")))], "NSArray")))
root = add(thing(
    "NSManagedObjectModel", NSEntities=archive.known_keys(dict(sorted(places.items()))), NSFetchRequestTemplates=dictionary({"fours": template}),
    NSConfigurations=dictionary({"Small": array([places["Other"], places["Thing"]], "NSArray")}),
    NSVersionIdentifiers=array([text("two")], "NSSet")))
folder = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(folder, "everything.cache"), "wb") as file:
    file.write(archive.packed(root))
with open(os.path.join(folder, "everything.json"), "w") as file:
    json.dump(expected, file, indent=1, sort_keys=True, ensure_ascii=False)
