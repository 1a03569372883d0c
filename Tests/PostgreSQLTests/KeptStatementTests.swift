import Foundation
import Heartwood
@testable import HeartwoodPostgreSQL
import HeartwoodPostgreSQLTestSupport
import Testing

/// A statement that was made for one argument answers for others as a record log does, whatever came before.
@Suite(.enabled(if: PostgreSQLTestServer.isPresent, "There is no PostgreSQL server."))
struct KeptStatementTests {
    /// The same objects in one kind of store.
    private struct Side {
        let context: NSManagedObjectContext
        let people: [NSManagedObject]
        let unsaved: NSManagedObject

        init(_ coordinator: NSPersistentStoreCoordinator) throws {
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            (people, unsaved) = try context.performAndWait {
                func insert(_ entity: String) -> NSManagedObject { NSEntityDescription.insertNewObject(forEntityName: entity, into: context) }
                let people = ["Person", "Person", "Writer"].map(insert)
                for number in 0..<48 {
                    let sample = insert(number % 5 == 4 ? "Special" : "Sample")
                    sample.setValue(number, forKey: "number")
                    guard number % 4 != 3 else { continue }
                    for (place, (key, values)) in samples.enumerated() where number % (place + 3) != 0 {
                        sample.setValue(values[(number / (place + 1)) % values.count], forKey: key)
                    }
                    if number % 6 != 0 { sample.setValue(people[number % 3], forKey: "person") }
                }
                try context.save()
                let unsaved = insert("Person")
                return (people, unsaved)
            }
            self.context = context
        }

        /// The numbers of the rows that a fetch finds, and their count; or an error's code.
        func answer(_ request: NSFetchRequest<NSManagedObject>, isOrdered: Bool) -> String {
            context.performAndWait {
                do {
                    let found = try context.fetch(request).map { $0.value(forKey: "number") as? Int ?? -1 }
                    return "\(isOrdered ? found : found.sorted()), \(try context.count(for: request))"
                } catch {
                    return "error \((error as NSError).code)"
                }
            }
        }
    }

    private static let samples: [(key: String, values: [any Sendable])] = [
        ("small", [0, 1, -2]), ("middle", [0, 1, -2]), ("large", [0, 1, Int64.max]), ("real", [0.5, 1, -2]), ("exact", [0.5, 1, -2]),
        ("flag", [true, false]), ("day", [Date(timeIntervalSinceReferenceDate: 0), Date(timeIntervalSinceReferenceDate: 1.5)]),
        ("text", ["", "a", "A", "ä"]), ("key", [uuid(1), uuid(2)]), ("sum", [NSDecimalNumber(value: 1), NSDecimalNumber(value: 2.5)]),
    ]

    private static func uuid(_ number: UInt8) -> UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, number)) }

    /// Arguments of all types, for columns of all types.
    private static let arguments: [@Sendable (Side) -> Any] = [
        { _ in 1 }, { _ in 0 }, { _ in 100_000 }, { _ in Int64.min }, { _ in 1.0 }, { _ in 0.5 }, { _ in Double.nan }, { _ in Double.infinity },
        { _ in true }, { _ in false }, { _ in NSNull() }, { _ in "a" }, { _ in "" }, { _ in "A\u{301}" }, { _ in "a\0b" },
        { _ in Date(timeIntervalSinceReferenceDate: 1.5) }, { _ in uuid(1) }, { _ in uuid(9) }, { _ in NSDecimalNumber(value: 1) },
        { $0.people[0] }, { $0.people[2] }, { $0.people[1].objectID }, { $0.unsaved }, { _ in [1, 0] },
    ]

    private static func model() -> NSManagedObjectModel {
        let sample = NSEntityDescription(), special = NSEntityDescription(), person = NSEntityDescription(), writer = NSEntityDescription()
        (sample.name, special.name, person.name, writer.name) = ("Sample", "Special", "Person", "Writer")
        let toPerson = ServerModel.relationship("person", to: person, toMany: false), back = ServerModel.relationship("samples", to: sample, toMany: true)
        ServerModel.connect(toPerson, back)
        let types: [(String, NSAttributeType)] = [
            ("number", .integer64AttributeType), ("small", .integer16AttributeType), ("middle", .integer32AttributeType),
            ("large", .integer64AttributeType), ("real", .floatAttributeType), ("exact", .doubleAttributeType), ("flag", .booleanAttributeType),
            ("day", .dateAttributeType), ("text", .stringAttributeType), ("key", .UUIDAttributeType), ("sum", .decimalAttributeType),
        ]
        sample.properties = types.map { ServerModel.attribute($0, $1) } + [toPerson]
        person.properties = [back]
        (sample.subentities, person.subentities) = ([special], [writer])
        let model = NSManagedObjectModel()
        model.entities = [sample, special, person, writer]
        return model
    }

    private let server: ServerStack
    private let sides: [Side]

    init() throws {
        let model = Self.model(), log = NSPersistentStoreCoordinator(managedObjectModel: model)
        server = try ServerStack(model)
        try log.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        sides = try [log, server.coordinator].map(Side.init)
    }

    private var kept: Int { (server.coordinator.persistentStores.first as? PostgreSQLStore)?.loaded?.statements.all.count ?? 0 }

    private func compare(_ entity: String, _ format: String, _ arguments: [(Side) -> Any], _ sort: [NSSortDescriptor] = [], limit: Int = 0, offset: Int = 0) {
        let answers = sides.map { side in
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            let values = arguments.map { $0(side) }
            request.predicate = NSPredicate(format: format, argumentArray: values)
            (request.sortDescriptors, request.fetchLimit, request.fetchOffset) = (sort, limit, offset)
            return side.answer(request, isOrdered: !sort.isEmpty)
        }
        #expect(answers[0] == answers[1], "\(entity): \(format), \(arguments.map { $0(sides[0]) }), limit \(limit), offset \(offset)")
    }

    @Test
    func `Each argument gets a record log's answer behind each other one`() {
        for key in Self.samples.map(\.key) + ["person"] {
            for comparison in ["==", "!=", "<", ">="] {
                for arguments in [Self.arguments, Self.arguments.reversed()] {
                    for argument in arguments { compare("Sample", "\(key) \(comparison) %@", [argument]) }
                }
            }
        }
        #expect(kept > 60)
    }

    @Test
    func `Formats with several values and constants, and sub-entities alone, get a record log's answers`() {
        let few = [0, 1, 4, 6, 8, 10, 11].map { Self.arguments[$0] }
        for entity in ["Sample", "Special"] {
            for format in ["small >= %@ AND exact < %@", "flag == YES AND middle == %@ AND text != %@", "text == %@ AND large BETWEEN {0, %@}"] {
                for first in few { for second in few { compare(entity, format, [first, second]) } }
            }
        }
        #expect(kept > 6)
    }

    @Test
    func `Windows and orders have statements of their own`() {
        let sorts = [[], ["text", "number"], ["number"]].map { $0.map { NSSortDescriptor(key: $0, ascending: false) } }
        for sort in sorts {
            for (limit, offset) in [(0, 0), (1, 0), (3, 0), (0, 2), (3, 2), (1, 100)] where !sort.isEmpty || limit + offset == 0 {
                for number in [0, 5, 40, 100] { compare("Sample", "number >= %@", [{ _ in number }], sort, limit: limit, offset: offset) }
            }
        }
        #expect(kept >= 9 + 1)
    }

    @Test
    func `A thousand formats are not all kept`() {
        for number in 0..<400 { compare("Sample", "number == %@ AND number < \(1_000 + number)", [{ _ in 1 }]) }
        #expect(kept <= 256 && kept > 100)
    }
}
