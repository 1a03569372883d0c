import Foundation
import RecordLog
import Testing

@testable import Heartwood

/// A migration states the default of an attribute in the new layout and writes no row. A store that was filled in the new version, with the same
/// values in its rows, answers every question alike.
struct StatedDefaultTests {
    typealias Entity = ModelVersion.Entity
    typealias Attribute = ModelVersion.Attribute

    private static let kinds = AttributeKind.allCases.filter { ![.external, .transformable, .composite, .code, .reference].contains($0) }
    private static var first: ModelVersion {
        ModelVersion(Entity(name: "Thing", attributes: [Attribute(name: "n", type: .integer64AttributeType)]))
    }

    /// The version with an attribute of each kind more.
    private static func second(_ state: ValueState, isOptional: Bool) -> ModelVersion {
        var version = first
        for kind in kinds {
            version["Thing"].attributes.append(Attribute(
                name: kind.rawValue, type: kind.type, isOptional: isOptional, initial: kind.value(state, kind.rawValue, 0)))
        }
        version["Thing"].attributes.append(Attribute(name: "copy", derivation: "string"))
        return version
    }

    /// Gives rows 1 and 2 other values, and adds one with other values and one with the default.
    private static func change(_ context: NSManagedObjectContext, isOptional: Bool) throws {
        let things = try context.all("Thing")
        for kind in kinds {
            things[1].setValue(kind.value(.other, kind.rawValue, 1), forKey: kind.rawValue)
            if isOptional { things[2].setValue(nil, forKey: kind.rawValue) }
        }
        things[3].setValue(33, forKey: "n")
        let new = [10, 11].map { number in
            let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
            thing.setValue(number, forKey: "n")
            return thing
        }
        for kind in kinds { new[0].setValue(kind.value(.other, kind.rawValue, 2), forKey: kind.rawValue) }
        try context.save()
    }

    private static func numbers(_ context: NSManagedObjectContext, _ format: String, _ arguments: [Any]) throws -> [Int] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
        request.predicate = NSPredicate(format: format, argumentArray: arguments)
        return try context.fetch(request).compactMap { $0.value(forKey: "n") as? Int }.sorted()
    }

    /// The answers to questions about each attribute, in every way that rows are read.
    private static func answers(_ context: NSManagedObjectContext, _ state: ValueState) throws -> [String] {
        var answers: [String] = []
        let things = try context.all("Thing")
        for kind in kinds {
            let name = kind.rawValue
            answers.append("\(name) values \(things.map { kind.plain($0.value(forKey: name)) })")
            for value in [kind.value(state, name, 0), kind.value(.other, name, 2)].compactMap(\.self) {
                for operation in ["==", "!="] {
                    answers.append("\(name) \(operation) \(try numbers(context, "%K \(operation) %@", [name, value]))")
                }
                if kind.isOrdered, kind != .boolean {
                    for operation in ["<", ">="] {
                        answers.append("\(name) \(operation) \(try numbers(context, "%K \(operation) %@", [name, value]))")
                    }
                }
                answers.append("\(name) IN \(try numbers(context, "%K IN %@", [name, [value]]))")
            }
            answers.append("\(name) nil \(try numbers(context, "%K == nil", [name])) \(try numbers(context, "%K != nil", [name]))")
            if kind.isOrdered {
                for ascending in [true, false] {
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
                    request.sortDescriptors = [NSSortDescriptor(key: name, ascending: ascending), NSSortDescriptor(key: "n", ascending: true)]
                    answers.append("\(name) sorted \(try context.fetch(request).compactMap { $0.value(forKey: "n") as? Int })")
                }
            }
            let grouped = NSFetchRequest<NSDictionary>(entityName: "Thing")
            grouped.resultType = .dictionaryResultType
            let count = NSExpressionDescription()
            count.name = "count"
            count.expression = NSExpression(forFunction: "count:", arguments: [NSExpression(forKeyPath: "n")])
            count.expressionResultType = .integer64AttributeType
            let attribute = try #require(things.first?.entity.attributesByName[name])
            grouped.propertiesToFetch = [attribute, count]
            grouped.propertiesToGroupBy = [attribute]
            answers.append("\(name) groups " + (try context.fetch(grouped).map { "\(kind.plain($0[name]))×\($0["count"] ?? "?")" }.sorted().joined(separator: " ")))
            if [.integer16, .integer32, .float, .double, .decimal].contains(kind) {
                for function in ["sum:", "min:", "max:", "average:"] {
                    let request = NSFetchRequest<NSDictionary>(entityName: "Thing")
                    request.resultType = .dictionaryResultType
                    let made = NSExpressionDescription()
                    made.name = "made"
                    made.expression = NSExpression(forFunction: function, arguments: [NSExpression(forKeyPath: name)])
                    made.expressionResultType = kind == .decimal ? .decimalAttributeType : .doubleAttributeType
                    request.propertiesToFetch = [made]
                    answers.append("\(name) \(function) \(try context.fetch(request).map { "\($0["made"] ?? "-")" })")
                }
            }
        }
        for format in ["string BEGINSWITH 'o'", "string ENDSWITH[c] 'T'", "string LIKE '*o*'", "string.length > 3", "integer16 + 1 > 2"] {
            answers.append("\(format) \(try numbers(context, format, []))")
        }
        answers.append("derived \(things.map { AttributeKind.string.plain($0.value(forKey: "copy")) })")
        return answers
    }

    private static func fill(_ context: NSManagedObjectContext) {
        for number in 0..<6 { NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context).setValue(number, forKey: "n") }
    }

    @Test(arguments: [ValueState.empty, .short, .long, .extreme, .absent])
    func `gives older rows the value in every way of reading`(state: ValueState) throws {
        let isOptional = state == .absent, version = Self.second(state, isOptional: isOptional)
        let migrated = try VersionedStore(Self.first, fill: Self.fill), written = try VersionedStore(version, fill: Self.fill)
        try migrated.migrated(to: version)
        func compare(_ when: String) throws {
            let expected = try Self.answers(written.anew(), state), found = try Self.answers(migrated.anew(), state)
            for (one, other) in zip(found, expected) where one != other { Issue.record("\(state), \(when): \(one)\ninstead of \(other)") }
        }
        try compare("after the migration")
        for store in [migrated, written] { try Self.change(store.anew(), isOptional: isOptional) }
        try compare("after changes")
        // The same through indexes.
        var indexed = version
        indexed["Thing"].indexes = Self.kinds.filter { $0 != .data }.map { (name: "by" + $0.rawValue, keys: [$0.rawValue], predicate: nil) }
            + [("partial", ["n"], "string != nil AND integer32 >= 0")]
        for store in [migrated, written] {
            try store.migrated(to: indexed)
            store.store?.indexing.wait()
        }
        try compare("through indexes")
        for store in [migrated, written] {
            let update = NSBatchUpdateRequest(entityName: "Thing")
            update.predicate = NSPredicate(format: "n < 3")
            update.propertiesToUpdate = ["n": NSExpression(format: "n + 100")]
            try store.anew().execute(update)
        }
        try compare("after a batch update of another attribute")
        for store in [migrated, written] {
            let update = NSBatchUpdateRequest(entityName: "Thing")
            update.predicate = NSPredicate(format: "n >= 100")
            update.propertiesToUpdate = ["integer64": NSExpression(format: "integer16 + 1"), "string": "x"]
            try store.anew().execute(update)
        }
        try compare("after a batch update")
        for store in [migrated, written] {
            try store.close()
            let log = try LogStore.open(path: store.url.path, options: StoredModel.options)
            _ = try log.compact()
            try log.close()
            #expect(try store.problems == [])
            try store.open(indexed)
        }
        try compare("after a compaction")
    }

    @Test
    func `costs no row, and a value that is too long is written into the rows`() throws {
        for (length, isStated) in [(0, true), (1024, true), (1025, false)] {
            let store = try VersionedStore(Self.first) { context in
                for number in 0..<2000 {
                    NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context).setValue(number, forKey: "n")
                }
            }
            try store.close()
            let before = try store.bytes
            var version = Self.first
            version["Thing"].attributes.append(Attribute(name: "text", isOptional: false, initial: String(repeating: "t", count: length)))
            try store.migrated(to: version)
            #expect(try (store.bytes - before < 16 << 10) == isStated, "a text of \(length) bytes")
            #expect(try store.context.all("Thing").allSatisfy { ($0.value(forKey: "text") as? String)?.utf8.count == length })
        }
    }

    @Test
    func `lasts over a chain of versions: made optional, required again with another value, removed, added again`() throws {
        let store = try VersionedStore(Self.first, fill: Self.fill)
        func version(_ isOptional: Bool, _ initial: Int?) -> ModelVersion {
            var version = Self.first
            version["Thing"].attributes.append(Attribute(name: "x", type: .integer32AttributeType, isOptional: isOptional, initial: initial))
            return version
        }
        func values(_ context: NSManagedObjectContext) throws -> [Int?] { try context.all("Thing").map { $0.value(forKey: "x") as? Int } }
        #expect(try values(store.migrated(to: version(false, 1))) == [1, 1, 1, 1, 1, 1])
        try store.context.all("Thing")[1].setValue(7, forKey: "x")
        try store.context.save()
        #expect(try values(store.migrated(to: version(false, 2))) == [1, 7, 1, 1, 1, 1], "another default is one of new objects")
        let context = try store.migrated(to: version(true, nil))
        #expect(try values(context) == [1, 7, 1, 1, 1, 1])
        try context.all("Thing")[2].setValue(nil, forKey: "x")
        _ = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
        try context.save()
        #expect(try values(store.anew()) == [1, 7, nil, 1, 1, 1, nil])
        #expect(try values(store.migrated(to: version(false, 3))) == [1, 7, 3, 1, 1, 1, 3], "a null becomes the default of its day")
        try store.migrated(to: Self.first)
        #expect(try values(store.migrated(to: version(false, 4))) == [4, 4, 4, 4, 4, 4, 4])
        #expect(try values(store.migrated(to: version(false, 4)["Thing", indexed: "x"])) == [4, 4, 4, 4, 4, 4, 4])
        store.store?.indexing.wait()
        try store.close()
        #expect(try store.problems == [])
    }

    @Test
    func `that an index is over goes into the rows, and the index finds it`() throws {
        var version = Self.first
        version["Thing"].attributes.append(Attribute(name: "x", type: .integer32AttributeType))
        version["Thing"].indexes = [("byX", ["x"], nil)]
        let store = try VersionedStore(version, fill: Self.fill)
        store.store?.indexing.wait()
        version["Thing"].attributes[1] = Attribute(name: "x", type: .integer32AttributeType, isOptional: false, initial: 5)
        let context = try store.migrated(to: version)
        store.store?.indexing.wait()
        #expect(try Self.numbers(context, "x == 5", []) == [0, 1, 2, 3, 4, 5] && Self.numbers(context, "x == nil", []) == [])
        try store.close()
        #expect(try store.problems == [])
    }

    @Test
    func `that breaks a uniqueness constraint ends the migration, and one object may have it`() throws {
        var version = Self.first
        version["Thing"].attributes.append(Attribute(name: "code", isOptional: false, initial: "c"))
        version["Thing"].unique = [["code"]]
        let many = try VersionedStore(Self.first, fill: Self.fill)
        let error = #expect(throws: NSError.self) { try many.migrated(to: version) }
        #expect(error?.code == NSMigrationConstraintViolationError)
        let one = try VersionedStore(Self.first) { NSEntityDescription.insertNewObject(forEntityName: "Thing", into: $0).setValue(1, forKey: "n") }
        let context = try one.migrated(to: version)
        #expect(try Self.numbers(context, "code == %@", ["c"]) == [1])
        let second = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
        #expect(throws: NSError.self) { try context.save() }
        second.setValue("d", forKey: "code")
        try context.save()
        #expect(try Self.numbers(context, "code == %@", ["c"]) == [1])
        try one.close()
        #expect(try one.problems == [])
    }

    @Test
    func `of a table without rows leaves the catalog one that older releases read`() throws {
        let store = try VersionedStore(Self.first) { _ in }
        var version = Self.first
        version["Thing"].attributes.append(Attribute(name: "x", type: .integer32AttributeType, isOptional: false, initial: 5))
        try store.migrated(to: version)
        let stated = store.store?.log?.snapshot().catalog.tables.flatMap(\.layouts).reduce(0) { $0 + $1.defaultCount }
        #expect(stated == 0)
    }
}

extension ModelVersion {
    /// The version with an index over one attribute more.
    fileprivate subscript(entity: String, indexed attribute: String) -> ModelVersion {
        var version = self
        version[entity].indexes.append(("by" + attribute, [attribute], nil))
        return version
    }
}
