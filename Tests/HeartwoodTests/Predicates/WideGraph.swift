import Foundation
import HeartwoodTestSupport
import RecordLog
import Testing

@testable import Heartwood

/// Entity families with values at the ends of their types, and relationships of every kind.
enum WideGraph {
    static func index(
        _ name: String, _ entity: NSEntityDescription, _ keys: [(String, Bool)], where format: String? = nil
    ) -> NSFetchIndexDescription {
        let known = entity.superentity.map { $0.propertiesByName.merging(entity.propertiesByName) { $1 } } ?? entity.propertiesByName
        return TestStack.index(name, keys, among: known, where: format)
    }

    static func model() -> NSManagedObjectModel {
        func entity(_ name: String) -> NSEntityDescription {
            let entity = NSEntityDescription()
            entity.name = name
            return entity
        }
        let base = entity("Base"), a = entity("A"), b = entity("B"), c = entity("C"), item = entity("Item"), tag = entity("Tag")
        let inner = NSCompositeAttributeDescription(), comp = NSCompositeAttributeDescription()
        inner.name = "inner"
        inner.elements = [TestStack.attribute("n", .integer32AttributeType), TestStack.attribute("s", .stringAttributeType)]
        comp.name = "comp"
        comp.elements = [TestStack.attribute("lat", .doubleAttributeType), TestStack.attribute("name", .stringAttributeType), inner]
        let ext = TestStack.attribute("ext", .binaryDataAttributeType)
        ext.allowsExternalBinaryDataStorage = true
        let boss = TestStack.relationship("boss", to: base, toMany: false), team = TestStack.relationship("team", to: base, toMany: true)
        let friends = TestStack.relationship("friends", to: base, toMany: true)
        let partner = TestStack.relationship("partner", to: base, toMany: false)
        let kids = TestStack.relationship("kids", to: item, toMany: true, ordered: true),
            owner = TestStack.relationship("owner", to: base, toMany: false)
        let tags = TestStack.relationship("tags", to: tag, toMany: true), people = TestStack.relationship("people", to: base, toMany: true)
        let line = TestStack.relationship("line", to: tag, toMany: true, ordered: true),
            lined = TestStack.relationship("lined", to: base, toMany: true)
        TestStack.connect(boss, team)
        TestStack.connect(kids, owner)
        TestStack.connect(tags, people)
        TestStack.connect(line, lined)
        friends.inverseRelationship = friends
        partner.inverseRelationship = partner
        base.properties = [
            TestStack.attribute("id", .stringAttributeType), TestStack.attribute("i16", .integer16AttributeType),
            TestStack.attribute("i32", .integer32AttributeType),
            TestStack.attribute("i64", .integer64AttributeType), TestStack.attribute("dbl", .doubleAttributeType),
            TestStack.attribute("flt", .floatAttributeType),
            TestStack.attribute("dec", .decimalAttributeType), TestStack.attribute("str", .stringAttributeType),
            TestStack.attribute("txt", .stringAttributeType),
            TestStack.attribute("bool", .booleanAttributeType), TestStack.attribute("date", .dateAttributeType),
            TestStack.attribute("data", .binaryDataAttributeType),
            TestStack.attribute("uuid", .UUIDAttributeType), TestStack.attribute("uri", .URIAttributeType),
            TestStack.attribute("trans", .transformableAttributeType),
            ext, comp, boss, team, friends, partner, kids, tags, line,
        ]
        base.isAbstract = true
        a.properties = [TestStack.attribute("x", .integer32AttributeType), TestStack.relationship("r", to: tag, toMany: false)]
        b.properties = [TestStack.attribute("x", .stringAttributeType), TestStack.relationship("r", to: tag, toMany: true)]
        for (entity, name) in [(a, "ra"), (b, "rb")] {
            let back = TestStack.relationship(name, to: entity, toMany: true)
            tag.properties.append(back)
            if let relationship = entity.properties.compactMap({ $0 as? NSRelationshipDescription }).first { TestStack.connect(relationship, back) }
        }
        c.properties = [TestStack.attribute("y", .decimalAttributeType)]
        a.subentities = [c]
        base.subentities = [a, b]
        item.properties = [TestStack.attribute("n", .integer32AttributeType), TestStack.attribute("label", .stringAttributeType), owner]
        tag.properties += [TestStack.attribute("weight", .doubleAttributeType), TestStack.attribute("label", .stringAttributeType), people, lined]
        base.indexes = [
            index("i16", base, [("i16", true)]), index("i32", base, [("i32", false), ("str", true)]),
            index("i64", base, [("i64", true), ("dbl", false)]),
            index("dbl", base, [("dbl", true), ("i16", true)]), index("flt", base, [("flt", false)]),
            index("dec", base, [("dec", true), ("i32", true)]),
            index("decDown", base, [("dec", false)]), index("str", base, [("str", true), ("i32", false)]), index("strDown", base, [("str", false)]),
            index("bool", base, [("bool", true), ("date", false), ("str", true)]), index("date", base, [("date", true)]),
            index("dateDown", base, [("date", false)]),
            index("data", base, [("data", true)]), index("uuid", base, [("uuid", false)]), index("uri", base, [("uri", true)]),
            index("boss", base, [("boss", true), ("i32", true)]),
            index("sum", base, [("i64 + i32", true)]), index("low", base, [("lowercase(str)", true), ("i32", false)]),
            index("len", base, [("length(str)", false)]),
            index("half", base, [("dbl / 2", true)]), index("abs", base, [("abs(i64)", true)]),
            index("some", base, [("i32", true)], where: "str != nil AND i16 > 0"),
            index("part", base, [("str", true)], where: "dbl < 1 OR dec >= 0"), index("boolpart", base, [("i64", true)], where: "bool = YES"),
        ]
        item.indexes = [index("n", item, [("n", true)])]
        tag.indexes = [index("label", tag, [("label", true)])]
        let model = NSManagedObjectModel()
        model.entities = [base, a, b, c, item, tag]
        return model
    }

    static let indexNames = [
        "i16", "i32", "i64", "dbl", "flt", "dec", "decDown", "str", "strDown", "bool", "date", "dateDown", "data", "uuid", "uri", "boss", "sum",
        "low", "len", "half", "abs", "some", "part", "boolpart"]
}
