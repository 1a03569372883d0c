import Foundation
import HeartwoodTestSupport
import RecordLog
import Testing

@testable import Heartwood

/// Plans that tables keep for formats.
@Suite struct CachedPlanTests {
    /// Its own: other tests use more formats than the process keeps, and so let go of some at any time.
    private let formats = FormatCache()

    private static func model(hasIndexes: Bool) -> NSManagedObjectModel {
        let model = SampleGraph.model()
        let sample = model.entitiesByName["Sample"]!, special = model.entitiesByName["Special"]!, tag = model.entitiesByName["Tag"]!
        sample.subentities = []
        sample.uniquenessConstraints = [["id"]]
        special.properties = [TestStack.attribute("extra", .stringAttributeType)]
        sample.indexes = []
        guard hasIndexes else { return model }
        func index(_ name: String, _ elements: [(String, Bool)]) -> NSFetchIndexDescription {
            TestStack.index(name, elements, among: sample.propertiesByName)
        }
        sample.indexes = [
            index("age", [("age", true)]), index("name", [("name", true), ("bits", true)]), index("ratio", [("ratio", false)]),
            index("born", [("born", true), ("flag", true), ("age", true)]), index("uuid", [("uuid", true)]),
        ]
        let label = NSFetchIndexElementDescription(property: tag.propertiesByName["label"]!, collationType: .binary)
        tag.indexes = [NSFetchIndexDescription(name: "label", elements: [label])]
        return model
    }

    /// A coordinator and a context over a file.
    private static func context(at url: URL, hasIndexes: Bool) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(hasIndexes: hasIndexes))
        try coordinator.addPersistentStore(
            ofType: NSRecordLogStoreType, configurationName: nil, at: url, options: [NSRecordLogDurabilityOption: "none"])
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private static func table(_ entity: String, in context: NSManagedObjectContext) throws -> EntityTable {
        let view = try #require(context.persistentStoreCoordinator?.persistentStores[0].rows?.newestView() as? RecordLogView)
        return try #require(view.schema.tables.lazy.compactMap { $0 }.first { $0.runtime.entity.name == entity })
    }

    private struct Maker {
        var random: SeededGenerator

        mutating func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }
        mutating func number() -> Int { pick([Int.random(in: -1...16, using: &random), 7, 7, Int(Int32.max)]) }

        /// A comparison with its arguments. Some are null, of another type than the attribute, or no number.
        mutating func part() -> (String, [Any]) {
            let order = pick(["=", "=", "!=", "<", "<=", ">", ">="])
            switch Int.random(in: 0..<17, using: &random) {
            case 0, 1: return ("age \(order) %@", [pick([number(), number(), NSNull(), "7", 2.5] as [Any])])
            case 2: return ("name \(order) %@", [pick(["ann1", "Zoë0", "b", "", 5, NSNull()] as [Any])])
            case 3: return ("name \(pick(["BEGINSWITH", "CONTAINS", "BEGINSWITH[c]", "LIKE"])) %@", [pick(["a", "ann", "Zo", "", "*1"])])
            case 4: return ("ratio \(order) %@", [pick([Double(number()) / 2, number(), Double.nan, -Double.infinity] as [Any])])
            case 5: return ("born \(order) %@", [pick([Date(timeIntervalSinceReferenceDate: Double(number())), NSNull()] as [Any])])
            case 6: return ("flag = %@", [pick([true, false, 1, NSNull()] as [Any])])
            case 7: return ("uuid = %@", [pick([UUID(uuidString: "00000000-0000-0000-0000-0000000000F1")!, NSNull()] as [Any])])
            case 8: return ("id = %@", ["\(Int.random(in: 0..<60, using: &random))"])
            case 9: return (pick(["age = nil", "name != nil", "age > 5 AND bits < %@"]), [])
            case 10: return ("age >= %@ AND age < %@", [number(), number()])
            case 11: return ("boss.\(pick(["name", "id"])) \(pick(["=", "!=", "BEGINSWITH"])) %@", [pick(["ann1", "7", "", NSNull()] as [Any])])
            case 12: return ("boss.age \(order) %@", [number()])
            case 13: return ("\(pick(["age", "age", "bits", "ratio", "boss.age"])) IN %@", [list([number(), number(), NSNull(), 2.5, Double.nan])])
            case 14: return ("\(pick(["name", "id", "uuid", "boss.name"])) IN %@", [list(["ann1", "Zoë0", "7", "", 5, NSNull(), UUID()])])
            case 15: return pick([
                ("age BETWEEN {%@, %@}", [number(), number()]), ("age BETWEEN %@", [[number(), number()]]), ("ratio BETWEEN {%@, %@}", [number(), 2.5]),
                ("name BETWEEN {%@, %@}", ["ann", pick(["b", "bob2", NSNull()] as [Any])]), ("age IN {1, 2, 7}", []), ("age BETWEEN {2, %@}", [number()]),
            ])
            default:
                return ("\(pick(["ANY", "ALL"])) \(pick(["tags.label", "team.id"])) \(pick(["=", "!=", ">"])) %@", [pick(["t1", "7", NSNull()] as [Any])])
            }
        }

        /// None of these, one, two, or all.
        mutating func list(_ values: [Any]) -> [Any] {
            let count = pick([0, 1, 1, 2, 2, values.count])
            return count == values.count ? values : (0..<count).map { _ in pick(values) }
        }

        mutating func format() -> (text: String, arguments: [Any]) {
            let parts = (0..<pick([1, 1, 2, 3])).map { _ in part() }
            var arguments = parts.flatMap(\.1)
            let text = parts.map(\.0).joined(separator: pick([" AND ", " AND ", " OR "]))
            if text.contains("bits < %@") {
                // The argument's place depends on the parts before it.
                arguments = []
                for part in parts { arguments += part.0.contains("bits < %@") ? [number()] : part.1 }
            }
            return (text, arguments)
        }

        mutating func sort() -> [NSSortDescriptor] {
            pick([[], [], ["age"], ["name"], ["name", "bits"], ["ratio"], ["born"], ["boss.name", "age"], ["word"]]).map {
                NSSortDescriptor(key: $0, ascending: Bool.random(using: &random))
            }
        }

        mutating func insert(_ count: Int, from first: Int, into context: NSManagedObjectContext) throws {
            let tags = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag"))
            var people = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Sample"))
            for number in first..<first + count {
                let person = NSEntityDescription.insertNewObject(forEntityName: "Sample", into: context)
                person.setValue("\(number)", forKey: "id")
                person.setValue(Int.random(in: -3..<9, using: &random), forKey: "bits")
                func maybe(_ key: String, _ value: Any?) { if !ValueDomain.isNothing(&random) { person.setValue(value, forKey: key) } }
                maybe("age", self.number())
                maybe("name", pick(["ann", "bob", "Ann", "Zoë", "Zoe\u{308}", ""]) + "\(Int.random(in: 0..<3, using: &random))")
                maybe("word", pick(["b", "ZOE", String(repeating: "w", count: 300)]))
                maybe("ratio", Double(self.number()) / 2)
                maybe("flag", Bool.random(using: &random))
                maybe("born", Date(timeIntervalSinceReferenceDate: Double(self.number())))
                maybe("uuid", UUID(uuidString: "00000000-0000-0000-0000-0000000000\(pick(["0A", "F1"]))"))
                maybe("boss", people.isEmpty ? nil : pick(people))
                person.setValue(Set(tags.filter { _ in Bool.random(using: &random) }), forKey: "tags")
                people.append(person)
            }
            try context.save()
        }
    }

    private func request(
        _ format: String, _ arguments: [Any], _ sort: [NSSortDescriptor] = [], limit: Int = 0, offset: Int = 0, isAnew: Bool = false,
        of entity: String = "Sample"
    ) throws -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        let predicate = try NSPredicate(parsing: format, argumentArray: arguments, formats: formats)
        // Nobody knows the format of a compound that is made of predicates.
        request.predicate = isAnew ? NSCompoundPredicate(andPredicateWithSubpredicates: [predicate]) : predicate
        request.sortDescriptors = sort
        (request.fetchLimit, request.fetchOffset) = (limit, offset)
        return request
    }

    @Test(arguments: [1, 2, 3, 118] as [UInt64])
    func `A fetch by a format with other arguments finds the same as one that is planned anew, while indexes come and go and rows grow`(
        seed: UInt64
    ) throws {
        var maker = Maker(random: SeededGenerator(seed: seed))
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("plans-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("store.heartwood")
        var count = 0, kept = 0
        for (round, hasIndexes) in [true, false, true].enumerated() {
            // Indexes are built and dropped beside the first fetches.
            let context = try Self.context(at: url, hasIndexes: hasIndexes)
            if round == 0 {
                for number in 0..<4 {
                    let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
                    tag.setValue(number, forKey: "weight")
                    if number > 0 { tag.setValue("t\(number)", forKey: "label") }
                }
                try context.save()
            }
            let formats = (0..<14).map { _ in (maker.format(), maker.sort()) }
            for grown in [0, 50, 150] {
                if grown > 0 || round == 0 {
                    try maker.insert(grown + 3, from: count, into: context)
                    count += grown + 3
                }
                for _ in 0..<60 {
                    let ((text, first), sort) = maker.pick(formats)
                    // The same format again with values of other fetches, or with its own.
                    let other = maker.format()
                    let arguments = other.arguments.count == first.count && Bool.random(using: &maker.random) ? other.arguments : first
                    let limit = maker.pick([0, 0, 1, 5]), offset = maker.pick([0, 0, 0, 2])
                    // Some arguments fit no such comparison.
                    guard (try? NSPredicate(parsing: text, argumentArray: arguments)) != nil else { continue }
                    func made(_ isAnew: Bool) throws -> NSFetchRequest<NSManagedObject> { try request(text, arguments, sort, limit: limit, offset: offset, isAnew: isAnew) }
                    let words = "seed \(seed), \(text) \(arguments) by \(sort.map { SortProbe($0).key ?? "" }) limit \(limit)"
                    let expected = Result { try context.fetch(made(true)) }
                    switch expected {
                    case .failure: #expect(throws: (any Error).self, "\(words)") { try context.fetch(made(false)) }
                    case .success(let expected):
                        // Objects that the order leaves equal come in any order, so a part of the result has any of them.
                        func check(_ found: [NSManagedObject], _ note: String = "") {
                            for key in sort.compactMap({ SortProbe($0).key }) {
                                func values(_ objects: [NSManagedObject]) -> [String] { objects.map { "\($0.value(forKeyPath: key) ?? "")" } }
                                #expect(values(found) == values(expected), "\(words)\(note)")
                            }
                            #expect(found.count == expected.count, "\(words)\(note)")
                            if limit == 0, offset == 0 { #expect(Set(found) == Set(expected), "\(words)\(note)") }
                        }
                        check(try context.fetch(made(false)))
                        check(try context.fetch(made(false)), ", again")
                        #expect(try context.count(for: made(false)) == expected.count, "\(words)")
                        let rows = NSFetchRequest<NSDictionary>(entityName: "Sample")
                        let whole = try made(false)
                        (rows.predicate, rows.sortDescriptors, rows.fetchLimit, rows.fetchOffset) = (whole.predicate, sort, limit, offset)
                        (rows.resultType, rows.propertiesToFetch) = (.dictionaryResultType, ["id"])
                        let listed = Dictionary(try context.fetch(request("TRUEPREDICATE", [])).map { ($0.value(forKey: "id") as? String, $0) }) { $1 }
                        check(try context.fetch(rows).compactMap { listed[$0["id"] as? String] }, ", as dictionaries")
                    }
                }
            }
            kept += try Self.table("Sample", in: context).plans.all.count
            if let coordinator = context.persistentStoreCoordinator { try coordinator.remove(coordinator.persistentStores[0]) }
        }
        #expect(kept > 10, "seed \(seed): plans were kept")
    }

    private func filled(count: Int = 400) throws -> (TestStack, EntityTable) {
        let stack = try TestStack(.inMemory, model: Self.model(hasIndexes: true))
        let tags = (0..<3).map { stack.insert("Tag", ["label": "t\($0)", "weight": $0]) }
        var boss: NSManagedObject?
        for number in 0..<count {
            let person = stack.insert(
                "Sample", ["id": "\(number)", "age": number % 100, "name": "p\(number % 10)", "bits": number, "ratio": Double(number) / 2])
            person.setValue(boss, forKey: "boss")
            if number % 20 == 0 { boss = person }
            if number % 40 == 0 { person.setValue(Set([tags[number % 3]]), forKey: "tags") }
        }
        try stack.context.save()
        return (stack, try Self.table("Sample", in: stack.context))
    }

    @Test
    func `Equalities, ranges, lists of owners and relationships are planned once, and explained as if they were planned each time`() throws {
        let (stack, table) = try filled()
        let byAge = [NSSortDescriptor(key: "age", ascending: true)]
        let kinds: [(String, [[Any]], [NSSortDescriptor], Int)] = [
            ("age = %@", [[7], [8], [1000]], [], 0), ("age >= %@", [[50], [99], [-1]], byAge, 10), ("age > %@ AND age <= %@", [[5, 8], [90, 95]], byAge, 5),
            ("name = %@ AND bits > %@", [["p1", 300], ["p9", 390], ["x", 0]], [], 0), ("id = %@ AND age > %@", [["5", 1], ["5", 50], ["no", 1]], [], 0),
            ("name BEGINSWITH %@", [["p1"], ["x"]], [], 0), ("age = %@ AND word != %@", [[7, "x"], [9, "y"]], [], 0),
            ("boss.id = %@", [["40"], ["60"], ["no"]], [], 0), ("boss.name = %@", [["x"], ["y"]], [], 0),
            ("ANY tags.label = %@", [["t0"], ["t1"], ["no"]], [], 0), ("ANY team.id = %@", [["7"], ["390"]], [], 0),
            ("word = %@", [["x"], ["y"]], [], 0), ("age IN %@", [[[1, 2]], [[99, 1, 7, 1]], [[1000, 1001]]], byAge, 0),
            ("id IN %@", [[["1", "2"]], [["no", "nor"]]], [], 0), ("name IN %@ AND bits < %@", [[["p1", "p2"], 50], [["p3", "x"], 9]], [], 0),
            ("age BETWEEN {%@, %@}", [[5, 8], [90, 95], [8, 5]], [], 0), ("age BETWEEN %@", [[[5, 8]], [[90, 95]]], byAge, 3),
            ("ratio = %@", [[2.5], [7.0]], [], 0), ("ratio > %@ AND ratio <= %@", [[1.0, 2.5], [190.0, 300.0]], [], 0),
            ("ratio < %@", [[2.0], [-1.0]], [NSSortDescriptor(key: "ratio", ascending: false)], 5), ("boss.id IN %@", [[["40", "60"]], [["no", "40"]]], [], 0),
        ]
        for (text, lists, sort, limit) in kinds {
            let before = table.plans.all.count
            for arguments in lists {
                let plan = try stack.context.explain(request(text, arguments, sort, limit: limit))
                #expect(plan == (try stack.context.explain(request(text, arguments, sort, limit: limit, isAnew: true))), "\(text) \(arguments)")
            }
            let kept = table.plans.all.count
            #expect(kept == before + 1, "\(text) is planned once")
        }
        // The planner plans a fetch each time where two indexes may serve, and where the format has an OR: the arguments decide.
        for (text, arguments) in [("age = %@ AND name = %@", [7, "p7"] as [Any]), ("age = %@ OR bits = %@", [1, 2])] as [(String, [Any])] {
            for _ in 0..<2 { _ = try stack.context.fetch(request(text, arguments)) }
            let kept = table.plans.all.count
            #expect(kept == kinds.count, "\(text)")
        }
    }

    @Test
    func `A list of one value, of many, of none and of other types finds the same as one that is planned anew`() throws {
        let (stack, table) = try filled()
        let lists: [[Any]] = [[1, 2], [1], [], [1, NSNull()], Array(0..<100), Array(0..<300), [1, "x"], [Double.nan, 1], [2, 2], [3, 4]]
        for (text, sort) in [("age IN %@", "age"), ("age IN %@", "bits"), ("age IN %@ AND bits > 50", "age")] {
            for list in lists {
                for limit in [0, 3] {
                    let byKey = [NSSortDescriptor(key: sort, ascending: true), NSSortDescriptor(key: "bits", ascending: true)]
                    let expected = try stack.context.fetch(request(text, [list], byKey, limit: limit, isAnew: true))
                    #expect(try stack.context.fetch(request(text, [list], byKey, limit: limit)) == expected, "\(text) \(list) by \(sort)")
                }
            }
        }
        #expect(!table.plans.all.isEmpty)
    }

    /// A list of one value left the order to an index by the key behind it, and the kept plan then gave that order to lists of several values.
    @Test
    func `A plan whose order leaves a list's attribute out is not used for a list of several values`() throws {
        let (stack, _) = try filled()
        let sort = [NSSortDescriptor(key: "bits", ascending: false), NSSortDescriptor(key: "age", ascending: true)]
        for list in [[97], [98], [98, 197, 99], [99, 98, 297]] {
            let arguments = [96, list] as [Any]
            let expected = try stack.context.fetch(request("age > %@ AND bits IN %@", arguments, sort, isAnew: true))
            #expect(try stack.context.fetch(request("age > %@ AND bits IN %@", arguments, sort)) == expected, "\(list)")
        }
    }

    /// Two tables, each with a plan of its own.
    @Test
    func `Fetches of an entity and its subentities are planned once, and merge their orders as if they were planned each time`() throws {
        let animal = NSEntityDescription(), dog = NSEntityDescription()
        (animal.name, dog.name) = ("Animal", "Dog")
        animal.properties = [
            TestStack.attribute("age", .integer64AttributeType), TestStack.attribute("name", .stringAttributeType),
            TestStack.attribute("number", .integer64AttributeType),
        ]
        dog.properties = [TestStack.attribute("breed", .stringAttributeType)]
        animal.subentities = [dog]
        animal.indexes = [
            TestStack.index("age", [("age", true), ("name", true)], among: animal.propertiesByName),
            TestStack.index("name", [("name", true), ("age", false)], among: animal.propertiesByName),
        ]
        let model = NSManagedObjectModel()
        model.entities = [animal, dog]
        let stack = try TestStack(.inMemory, model: model)
        for number in 0..<300 {
            var values: [String: Any] = ["number": number, "name": "n\(number % 7)"]
            if number % 11 > 0 { values["age"] = number % 40 }
            stack.insert(number % 3 == 0 ? "Dog" : "Animal", values)
        }
        try stack.context.save()
        let formats: [(String, [[Any]])] = [
            ("age = %@", [[7], [8], [1000]]), ("age >= %@", [[35], [0], [99]]), ("name = %@", [["n1"], ["x"]]), ("age IN %@", [[[1, 2]], [[3]], [[]]]),
            ("name = %@ AND age BETWEEN {%@, %@}", [["n1", 0, 10], ["n2", 5, 5]]), ("number > %@", [[280], [-1]]), ("breed = %@", [["x"]]),
        ]
        let sorts = [[], ["age"], ["name"], ["age", "name"], ["name", "age"], ["number"]]
        for (text, lists) in formats {
            for keys in sorts {
                for isAscending in [true, false] {
                    for limit in [0, 1, 10] {
                        // The first two fetches make the plans.
                        for arguments in lists + lists {
                            let sort = keys.map { NSSortDescriptor(key: $0, ascending: isAscending) }
                            let words = "\(text) \(arguments) by \(keys) \(isAscending) limit \(limit)"
                            let expected = try stack.context.fetch(request(text, arguments, sort, limit: limit, isAnew: true, of: "Animal"))
                            let found = try stack.context.fetch(request(text, arguments, sort, limit: limit, of: "Animal"))
                            func values(_ objects: [NSManagedObject]) -> [[String]] { objects.map { o in keys.map { "\(o.value(forKey: $0) ?? "")" } } }
                            // Objects with equal values may come in any order.
                            #expect(values(found) == values(expected), "\(words)")
                            if limit == 0 { #expect(Set(found) == Set(expected), "\(words)") }
                            #expect(try stack.context.count(for: request(text, arguments, limit: limit, of: "Animal")) == expected.count, "\(words)")
                        }
                    }
                }
            }
        }
        for name in ["Animal", "Dog"] { #expect(try Self.table(name, in: stack.context).plans.all.count > 30, "\(name)") }
    }

    @Test
    func `A partial index leaves fetches alone that no value makes it serve, and decides about the others each time`() throws {
        let model = Self.model(hasIndexes: true), sample = model.entitiesByName["Sample"]!
        let partial = TestStack.index("flagged", [("bits", true)], among: sample.propertiesByName)
        partial.partialIndexPredicate = NSPredicate(format: "flag == 1 AND age > 10")
        sample.indexes.append(partial)
        let stack = try TestStack(.inMemory, model: model)
        for number in 0..<400 { stack.insert("Sample", ["id": "\(number)", "age": number % 100, "flag": number % 3 == 0, "bits": number]) }
        try stack.context.save()
        let table = try Self.table("Sample", in: stack.context)
        for (text, lists, isKept) in [
            ("age = %@", [[7], [8]], true), ("id = %@", [["7"], ["x"]], true), ("flag = %@ AND age = %@", [[true, 50], [false, 50], [true, 5]], false),
        ] as [(String, [[Any]], Bool)] {
            let before = table.plans.all.count
            for arguments in lists + lists {
                let plan = try stack.context.explain(request(text, arguments))
                #expect(plan == (try stack.context.explain(request(text, arguments, isAnew: true))), "\(text) \(arguments)")
                let expected = try stack.context.fetch(request(text, arguments, isAnew: true))
                #expect(try stack.context.fetch(request(text, arguments)) == expected, "\(text) \(arguments)")
            }
            #expect(table.plans.all.count == before + (isKept ? 1 : 0), "\(text)")
        }
    }

    @Test
    func `Null, another type and no number are planned anew and leave the kept plan as it is`() throws {
        let (stack, table) = try filled()
        for argument in [NSNull(), "x", 2.5, 7, NSNull(), "8", 8] as [Any] {
            let found = try stack.context.fetch(request("age = %@", [argument])).count
            #expect(found == (try stack.context.fetch(request("age = %@", [argument], isAnew: true)).count), "\(argument)")
        }
        #expect(table.plans.all.count == 1)
    }

    @Test
    func `A plan is made again when the table has grown to more than twice, and after a fetch that found a third of it`() throws {
        let (stack, table) = try filled(count: 40)
        func access(_ from: Int) throws -> FetchPlan.Access { try stack.context.explain(request("age >= %@", [from])).parts[0].access }
        // A format is known from its second use on.
        for _ in 0..<2 { #expect(try access(39) == .index("index:age")) }
        #expect(table.plans.all.count == 1)
        for number in 0..<400 { stack.insert("Sample", ["id": "new\(number)", "age": number % 100]) }
        try stack.context.save()
        #expect(try access(99) == .index("index:age"))
        #expect(table.plans.all.count == 2, "the rows have grown")
        // The range holds every row. The next fetches are planned: a scan, then the index again.
        #expect(try access(0) == .index("index:age"))
        #expect(try access(0) == .scan)
        #expect(try access(99) == .index("index:age"))
        #expect(try access(98) == .index("index:age"))
        #expect(table.plans.all.count == 2)
    }

    @Test
    func `A table keeps plans of 256 fetches at most, and finds those that it has no place for by planning`() throws {
        let (stack, table) = try filled(count: 20)
        for number in 0..<300 {
            let found = try stack.context.fetch(request("age = %@" + String(repeating: " AND bits >= 0", count: number % 7) + " AND bits != \(-1 - number)", [7]))
            #expect(found.count == 1)
        }
        #expect(table.plans.all.count <= 256)
    }
}
