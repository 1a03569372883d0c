"""Writes the model cache of a store, with the classes of Tests/Goldens/ModelCaches."""
import os, sys, uuid

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Goldens", "ModelCaches"))
from cache_archive import UID, CacheArchive  # noqa: E402
from model import TYPES  # noqa: E402

INTEGERS = ("int16", "int32", "int64")


class CacheWriter:
    def __init__(self, model, configurations, names_classes=True):
        self.archive, self.model, self.configurations = CacheArchive(), model, configurations
        self.names_classes = names_classes
        self.places = {name: self.archive.add(None) for name in sorted(model.entities)}
        self.written = {}

    def packed(self):
        for entity in self.model.by_number:
            self.archive.objects[self.places[entity.name].data] = self.entity(entity)
        archive, array = self.archive, self.archive.array
        configurations = {name: array([self.places[one] for one in sorted(names)], "NSArray") for name, names in self.configurations.items()}
        root = archive.add(archive.thing(
            "NSManagedObjectModel", NSEntities=archive.known_keys(self.places), NSFetchRequestTemplates=archive.dictionary({}),
            NSConfigurations=archive.dictionary(configurations), NSVersionIdentifiers=array([archive.text("1")], "NSSet")))
        return archive.packed(root)

    def entity(self, entity):
        archive = self.archive
        text, array = archive.text, archive.array
        values = dict(
            NSEntityName=text(entity.name), NSClassNameForEntity=text(entity.name if self.names_classes else None), NSVersionHashModifier=text(None),
            NSSuperentity=self.places[entity.parent.name] if entity.parent else UID(0), NSRenamingIdentifier=text(entity.was or entity.name),
            NSProperties=archive.dictionary(self.properties(entity)), NSUserInfo=archive.dictionary({}, "NSDictionary"))
        if entity.abstract:
            values["NSIsAbstract"] = True
        if entity.unique:
            values["NSUniqueTuples"] = array([array([text(one) for one in names]) for names in entity.unique])
        if entity.indexes:
            values["NSFetchIndexDescriptions"] = array([self.index(name, names) for name, names in entity.indexes.items()])
        return archive.thing("NSEntityDescription", **values)

    def index(self, name, names):
        archive = self.archive
        elements = [archive.add(archive.thing(
            "NSFetchIndexElementDescription", NSPropertyName=archive.text(one.lstrip("-")), NSFetchIndexElementType=0,
            NSAscending=one[0] != "-")) for one in names]
        return archive.add(archive.thing(
            "NSFetchIndexDescription", NSIndexName=archive.mutable(name), NSIndexElements=archive.array(elements), NSPartialIndexPredicate=UID(0)))

    def properties(self, entity):
        """A subentity repeats what it inherits, as copies and as proxies by turns."""
        found = {}
        for place, one in enumerate(entity.properties):
            owner = entity.owner(one.name)
            if owner is entity:
                self.written[entity, one.name] = found[one.name] = self.write(one, entity)
            elif place % 2:
                found[one.name] = self.archive.add(self.archive.thing(
                    "_NSPropertyDescriptionProxy", NSUnderlyingProperty=self.written[owner, one.name],
                    NSEntityDescription=self.places[entity.name], NSReferenceID=place))
            else:
                found[one.name] = self.write(one, entity)
        return found

    def write(self, one, entity):
        place = self.places[entity.name] if entity else UID(0)
        bits = 2 * one.optional | 8 * one.transient
        if one.is_relationship:
            return self.relationship(one, self.archive.property_head(one.name, place, bits | 0x400 * one.ordered, one.was, None, True))
        return self.attribute(one, self.archive.property_head(one.name, place, bits | 4 * bool(one.derived), one.was, None, True))

    def relationship(self, one, head):
        archive = self.archive
        return archive.add(archive.thing(
            "NSRelationshipDescription", **head, _NSDestinationEntityName=archive.text(one.to),
            _NSInverseRelationshipName=archive.text(one.inverse), NSDestinationEntity=self.places[one.to], NSInverseRelationship=UID(0),
            NSMinCount=one.least, NSMaxCount=-1 if one.many and not one.most else one.most, NSDeleteRule=one.rule))

    def attribute(self, one, head):
        archive, kind = self.archive, "NSAttributeDescription"
        head.update(
            NSAttributeType=TYPES[one.type][0], NSFlagsKey=4 * one.external | 16 * one.preserved, NSDefaultValue=self.default(one),
            NSValueTransformerName=archive.text("NSSecureUnarchiveFromData" if one.type == "transformable" else None))
        if one.type == "composite":
            kind, head["NSElements"] = "NSCompositeAttributeDescription", archive.array([self.write(leaf, None) for leaf in one.elements])
        if one.derived:
            kind, head["NSDerivationExpression"] = "NSDerivedAttributeDescription", self.derivation(one.derived)
        return archive.add(archive.thing(kind, **head))

    def derivation(self, path):
        if not path.endswith(".@count"):
            return self.archive.path(path)
        add, thing = self.archive.add, self.archive.thing
        owner = add(thing("NSConstantValueExpression", NSExpressionType=0, NSConstantValueClassName=add("_NSPredicateUtilities")))
        counted = self.archive.array([self.archive.path(path[:-len(".@count")])], "NSArray")
        return add(thing(
            "NSFunctionExpression", NSExpressionType=4, NSOperand=owner, NSSelectorName=add("count:"), NSArguments=counted))

    def default(self, one):
        if one.default is None:
            return UID(0)
        archive = self.archive
        if one.type == "date":
            return archive.add(archive.thing("NSDate", **{"NS.time": float(one.default)}))
        if one.type == "uuid":
            return archive.add(archive.thing("NSUUID", **{"NS.uuidbytes": uuid.UUID(one.default).bytes}))
        assert one.type in INTEGERS + ("double", "float", "string", "bool"), f"no default of type {one.type}"
        return archive.add(one.default)
