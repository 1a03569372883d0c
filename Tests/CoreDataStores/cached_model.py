"""Reads the model of a store from its cache, to predict the layout of a real store."""
import os, sys, zlib

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "FormatReader"))
from model import TYPES, Attribute, Entity, Model, Relationship  # noqa: E402
from model_cache import Archive  # noqa: E402

NAMES = {number: name for name, (number, _) in TYPES.items()}


def property_of(archive, thing):
    kind = archive.name(thing)
    if kind == "_NSPropertyDescriptionProxy":
        return property_of(archive, archive.follow(thing["NSUnderlyingProperty"]))
    name, bits, flags = archive.get(thing, "NSPropertyName"), thing["_P"], thing.get("NSFlagsKey", 0)
    if kind == "NSRelationshipDescription":
        return Relationship(name, {
            "to": archive.get(thing, "_NSDestinationEntityName"), "inverse": archive.get(thing, "_NSInverseRelationshipName"),
            "many": thing["NSMaxCount"] != 1, "ordered": bool(bits & 0x400), "transient": bool(bits & 8)})
    if "NSAttributeType" not in thing:
        return None
    found = Attribute(name, {
        "type": NAMES.get(thing["NSAttributeType"], "transformable"), "transient": bool(bits & 8), "external": bool(flags & 4),
        "preserved": bool(flags & 16), "derived": derivation(archive, archive.get(thing, "NSDerivationExpression"))})
    found.elements = [property_of(archive, one) for one in archive.members(thing, "NSElements")]
    return found


def derivation(archive, expression):
    """The key path of a derivation, with @count for a number of objects; None where it is something else."""
    if not expression:
        return None
    arguments = archive.members(expression, "NSArguments")
    if archive.get(expression, "NSSelectorName") == "count:":
        path = derivation(archive, arguments[0])
        return f"{path}.@count" if path else None
    return archive.get(arguments[0], "NSKeyPath") if arguments and "NSKeyPath" in arguments[0] else None


def read(cache, numbers):
    """The model in the bytes of Z_CONTENT, with a store's own numbers."""
    archive, entities = Archive(zlib.decompress(cache, -15)), []
    for name, thing in archive.entries(archive.root, "NSEntities").items():
        parent = archive.get(thing, "NSSuperentity")
        entity = Entity(name, {"super": archive.get(parent, "NSEntityName") if parent else None})
        found = [property_of(archive, one) for one in archive.entries(thing, "NSProperties").values()]
        entity.own = sorted((one for one in found if one), key=lambda one: one.name)
        entity.unique = [[archive.follow(one) for one in tuple["NS.objects"]] for tuple in archive.members(thing, "NSUniqueTuples")]
        entity.indexes = dict(indexes(archive, thing, {one.name for one in entity.own}))
        entities.append(entity)
    inherited = {one.name: one for one in entities}
    for one in reversed(sorted(entities, key=lambda one: depth(inherited, one))):
        if one.parent_name:
            above = {own.name for own in inherited[one.parent_name].own}
            one.own = [own for own in one.own if own.name not in above]
    return Model(entities, numbers)


def indexes(archive, thing, properties):
    """The fetch indexes over properties of all objects: no partial ones, none over expressions, no R-trees."""
    for one in archive.members(thing, "NSFetchIndexDescriptions"):
        elements = archive.members(one, "NSIndexElements")
        names = [archive.get(element, "NSPropertyName") for element in elements]
        plain = all(element.get("NSFetchIndexElementType", 0) == 0 for element in elements) and set(names) <= properties
        if plain and archive.get(one, "NSPartialIndexPredicate") is None:
            yield archive.get(one, "NSIndexName"), [name if element.get("NSAscending") else f"-{name}" for name, element in zip(names, elements)]


def depth(entities, one):
    return 1 + depth(entities, entities[one.parent_name]) if one.parent_name else 0
