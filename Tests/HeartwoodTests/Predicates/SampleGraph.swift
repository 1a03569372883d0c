import Foundation
import Testing

@testable import Heartwood

/// Five objects, a to e, whose values the conformance table uses. Unset values are null.
///
///     id  name      age  ratio  price  flag  born    word            bits  boss  team  tags
///     a   Ada       30   0.5    10.5   YES   0       Été             5     -     b c   red blue
///     b   Bob       40   1.5    2      NO    86400   ete             6     a     -     red
///     c   Cy        50   -      -      -     -       -               0     a     d     -
///     d   ada       -    -2.5   -1.25  YES   -86400  ÉTÉ             -1    c     e     blue green plain
///     e   D*n?y\    0    1e300  1000   NO    1e6     été, decomposed 255   d     -     green
///
/// The tags weigh 1 (red), 2 (blue), 3 (green) and 10 (plain, which has no label).
enum SampleGraph {
    static let uuid = UUID(uuidString: "00000000-0000-0000-0000-00000000000A")!

    static func model() -> NSManagedObjectModel {
        let sample = NSEntityDescription(), tag = NSEntityDescription(), special = NSEntityDescription()
        (sample.name, tag.name, special.name) = ("Sample", "Tag", "Special")
        let boss = TestStack.relationship("boss", to: sample, toMany: false), team = TestStack.relationship("team", to: sample, toMany: true)
        let tags = TestStack.relationship("tags", to: tag, toMany: true), samples = TestStack.relationship("samples", to: sample, toMany: true)
        TestStack.connect(boss, team)
        TestStack.connect(tags, samples)
        let name = TestStack.attribute("name", .stringAttributeType), age = TestStack.attribute("age", .integer32AttributeType)
        sample.properties = [
            TestStack.attribute("id", .stringAttributeType), name, age, TestStack.attribute("ratio", .doubleAttributeType),
            TestStack.attribute("price", .decimalAttributeType), TestStack.attribute("flag", .booleanAttributeType),
            TestStack.attribute("born", .dateAttributeType), TestStack.attribute("word", .stringAttributeType),
            TestStack.attribute("bits", .integer64AttributeType), TestStack.attribute("data", .binaryDataAttributeType),
            TestStack.attribute("uuid", .UUIDAttributeType), TestStack.attribute("link", .URIAttributeType),
            TestStack.attribute("order", .integer16AttributeType), boss, team, tags,
        ]
        sample.indexes = [TestStack.index("byName", [name]), TestStack.index("byAge", [age])]
        tag.properties = [TestStack.attribute("label", .stringAttributeType), TestStack.attribute("weight", .integer32AttributeType), samples]
        special.properties = [TestStack.attribute("extra", .stringAttributeType)]
        sample.subentities = [special]
        let model = NSManagedObjectModel()
        model.entities = [sample, special, tag]
        return model
    }

    /// A stack with a store that has the graph, saved.
    static func stack(_ kind: StoreKind) throws -> TestStack {
        let stack = try TestStack(kind, model: model())
        insert(into: stack)
        try stack.context.save()
        return stack
    }

    /// The objects by ID, unsaved.
    @discardableResult
    static func insert(into stack: TestStack) -> [String: NSManagedObject] {
        func tag(_ label: String?, _ weight: Int) -> NSManagedObject {
            let tag = stack.insert("Tag", ["weight": weight])
            tag.setValue(label, forKey: "label")
            return tag
        }
        let red = tag("red", 1), blue = tag("blue", 2), green = tag("green", 3), plain = tag(nil, 10)
        func date(_ seconds: Double) -> Date { Date(timeIntervalSinceReferenceDate: seconds) }
        let a = stack.insert("Sample", [
            "id": "a", "name": "Ada", "age": 30, "ratio": 0.5, "price": Decimal(string: "10.5")!, "flag": true, "born": date(0), "word": "Été",
            "bits": 5, "tags": Set([red, blue]), "uuid": uuid, "data": Data([1, 2]), "link": URL(string: "https://example.org/a")!, "order": 1,
        ])
        let b = stack.insert("Sample", [
            "id": "b", "name": "Bob", "age": 40, "ratio": 1.5, "price": Decimal(2), "flag": false, "born": date(86400), "word": "ete", "bits": 6,
            "boss": a, "tags": Set([red]),
        ])
        let c = stack.insert("Sample", ["id": "c", "name": "Cy", "age": 50, "bits": 0, "boss": a])
        let d = stack.insert("Special", [
            "id": "d", "name": "ada", "ratio": -2.5, "price": Decimal(string: "-1.25")!, "flag": true, "born": date(-86400), "word": "ÉTÉ",
            "bits": -1, "boss": c, "tags": Set([blue, green, plain]), "extra": "x",
        ])
        let e = stack.insert("Sample", [
            "id": "e", "name": "D*n?y\\", "age": 0, "ratio": 1e300, "price": Decimal(1000), "flag": false, "born": date(1e6),
            "word": "e\u{301}te\u{301}", "bits": 255, "boss": d, "tags": Set([green]),
        ])
        return ["a": a, "b": b, "c": c, "d": d, "e": e]
    }

    static func ids(_ objects: [NSManagedObject]) -> String {
        objects.map { $0.value(forKey: "id") as? String ?? "?" }.sorted().joined()
    }
}
