"""Writes keyed archives of NSManagedObjectModel, as Core Data keeps them in its stores: DEFLATE without a header."""
import plistlib, zlib

UID = plistlib.UID


class CacheArchive:
    def __init__(self):
        self.objects, self.classes = ["$null"], {}

    def add(self, value):
        self.objects.append(value)
        return UID(len(self.objects) - 1)

    def thing(self, name, **values):
        if name not in self.classes:
            self.classes[name] = self.add({"$classname": name, "$classes": [name, "NSObject"]})
        return {**values, "$class": self.classes[name]}

    def text(self, value):
        return UID(0) if value is None else self.add(value)

    def mutable(self, value):
        return self.add(self.thing("NSMutableString", **{"NS.string": value}))

    def array(self, members, name="NSMutableArray"):
        return self.add(self.thing(name, **{"NS.objects": members}))

    def dictionary(self, pairs, name="NSMutableDictionary"):
        return self.add(self.thing(name, **{"NS.keys": [self.text(key) for key in pairs], "NS.objects": list(pairs.values())}))

    def known_keys(self, pairs):
        keys = self.array([self.text(key) for key in pairs], "NSArray")
        strategy = self.add(self.thing("NSKnownKeysMappingStrategy1", keys=keys, length=len(pairs), version=1))
        values = self.array(list(pairs.values()), "NSArray")
        return self.add(self.thing("NSKnownKeysDictionary1", searchMapping=strategy, values=values, version=1))

    # Expressions and predicates.
    def self_expression(self):
        return self.add(self.thing("NSSelfExpression", NSExpressionType=1))

    def path(self, keys):
        keys = self.add(self.thing("NSKeyPathSpecifierExpression", NSExpressionType=10, NSKeyPath=self.text(keys)))
        return self.add(self.thing(
            "NSKeyPathExpression", NSExpressionType=3, NSOperand=self.self_expression(), NSSelectorName=self.text("valueForKeyPath:"),
            NSArguments=self.array([keys])))

    def comparison(self, left, kind, value):
        operator = self.add(self.thing("NSComparisonPredicateOperator", NSOperatorType=kind, NSModifier=0, NSOptions=0))
        right = self.add(self.thing("NSConstantValueExpression", NSExpressionType=0, NSConstantValue=self.add(value)))
        return self.add(self.thing("NSComparisonPredicate", NSLeftExpression=left, NSRightExpression=right, NSPredicateOperator=operator))

    def property_head(self, name, entity, bits, was, modifier, own_keys):
        """The values that each kind of property has."""
        found = dict(NSPropertyName=self.text(name), NSEntity=entity, NSRenamingIdentifier=self.text(was or name), _P=bits | 241)
        if modifier:
            found["NSVersionHashModifier"] = self.mutable(modifier)
        # Some properties state their flags as bits alone.
        if own_keys:
            for bit, key in ((2, "NSIsOptional"), (8, "NSIsTransient"), (0x400, "NSIsOrdered")):
                if bits & bit:
                    found[key] = True
        return found

    def packed(self, root):
        """The bytes of Z_CONTENT."""
        archive = {"$version": 100000, "$archiver": "NSKeyedArchiver", "$top": {"root": root}, "$objects": self.objects}
        deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
        return deflate.compress(plistlib.dumps(archive, fmt=plistlib.FMT_BINARY)) + deflate.flush()
