import Foundation
import Testing

@testable import Heartwood

@Suite struct SwiftPredicateTests {
    struct Row {
        let predicate: Predicate<Reader>
        let format: String

        init(_ predicate: Predicate<Reader>, _ format: String) {
            self.predicate = predicate
            self.format = format
        }
    }

    /// Each form of the macro with the format that it becomes.
    private static func rows() -> [Row] {
        let ada = "Ada", limit = 10, none: String? = nil, day = Date(timeIntervalSinceReferenceDate: 50), uuid = ReaderGraph.uuid
        let plain = Reader.Level.plain, gold = Reader.Level.gold
        let names = ["Ada", "Bob"], numbers: Set = [0], span = 0..<18, from = 17...
        return [
            Row(#Predicate { $0.name == ada }, #"name == "Ada""#),
            Row(#Predicate { $0.name != ada }, #"name != "Ada""#),
            Row(#Predicate { $0.name == nil }, "name == nil"),
            Row(#Predicate { $0.name != nil }, "name != nil"),
            Row(#Predicate { $0.name == none }, "name == nil"),
            Row(#Predicate { $0.name == ada && $0.age > limit && $0.isActive }, #"name == "Ada" AND age > 10 AND isActive == 1"#),
            Row(#Predicate { $0.name == ada || $0.age > limit }, #"name == "Ada" OR age > 10"#),
            Row(#Predicate { !($0.name == ada) }, #"NOT name == "Ada""#),
            // A non-optional accessor reads null as 0, "" or false.
            Row(#Predicate { $0.age > limit }, "age > 10"),
            Row(#Predicate { $0.age < limit }, "age < 10 OR age == nil"),
            Row(#Predicate { limit > $0.age }, "age < 10 OR age == nil"),
            Row(#Predicate { $0.age == 0 }, "age == 0 OR age == nil"),
            Row(#Predicate { $0.age != 0 }, "age != 0 AND age != nil"),
            Row(#Predicate { $0.age != 36 }, "age != 36"),
            Row(#Predicate { $0.city == "" }, #"city == "" OR city == nil"#),
            Row(#Predicate { $0.city.isEmpty }, #"city == "" OR city == nil"#),
            Row(#Predicate { $0.city.count < 3 }, "length:(city) < 3 OR length:(city) == nil"),
            Row(#Predicate { $0.isActive }, "isActive == 1"),
            Row(#Predicate { !$0.isActive }, "isActive == 0 OR isActive == nil"),
            Row(#Predicate { $0.isActive == ($0.age > limit) },
                "TERNARY(isActive == nil, 0, isActive) == TERNARY(age > 10, 1, 0)"),
            // An accessor may read null as any value.
            Row(#Predicate { $0.grade == plain }, "grade == 0 OR grade == nil"),
            Row(#Predicate { $0.grade != plain }, "grade != 0 AND grade != nil"),
            Row(#Predicate { $0.grade == gold }, "grade == 2"),
            Row(#Predicate { $0.since < day }, "born < CAST(50.0, \"NSDate\") OR born == nil"),
            Row(#Predicate { $0.nick == "none" }, #"name == "none" OR name == nil"#),
            Row(#Predicate { $0.nick == nil }, "FALSEPREDICATE"),
            Row(#Predicate { $0.nick?.count == 4 }, "length:(name) == 4 OR length:(name) == nil"),
            Row(#Predicate { ($0.nick?.count ?? 9) == 4 }, "length:(name) == 4 OR length:(name) == nil"),
            Row(#Predicate { $0.nick?.contains("on") != true }, #"NOT (name CONTAINS "on" OR name == nil)"#),
            Row(#Predicate { $0.nick?.isEmpty == nil }, "FALSEPREDICATE"),
            Row(#Predicate { $0.clubTitle == "" }, #"club.title == "" OR (club.title == nil AND club != nil)"#),
            Row(#Predicate { $0.clubTitle == nil }, "club == nil"),
            Row(#Predicate { ($0.clubTitle ?? "") == "" }, #"club.title == "" OR club.title == nil"#),
            Row(#Predicate { $0.clubRating < 3 }, "club.rating < 3 OR club.rating == nil"),
            Row(#Predicate { $0.books.contains { $0.owner.clubTitle == "" } },
                #"SUBQUERY(books, $x, $x.owner.club.title == "" OR ($x.owner.club.title == nil AND $x.owner.club != nil)).@count > 0"#),
            // Optionals.
            Row(#Predicate { $0.points! > 3 }, "points > 3"),
            Row(#Predicate { ($0.points ?? 7) > 6 }, "points > 6 OR points == nil"),
            Row(#Predicate { ($0.points ?? -1) < 3 }, "points < 3 OR points == nil"),
            Row(#Predicate { ($0.points ?? $0.age) == 0 }, "TERNARY(points == nil, TERNARY(age == nil, 0, age), points) == 0"),
            Row(#Predicate { if let points = $0.points { points < 1 } else { true } }, "points < 1 OR points == nil"),
            Row(#Predicate { $0.name?.contains("d") == true }, #"name CONTAINS "d""#),
            Row(#Predicate { $0.name?.contains("d") == false }, #"NOT name CONTAINS "d" AND name != nil"#),
            Row(#Predicate { $0.name?.contains("d") != true }, #"NOT name CONTAINS "d""#),
            Row(#Predicate { $0.name?.contains("d") ?? true }, #"name CONTAINS "d" OR name == nil"#),
            Row(#Predicate { $0.name?.isEmpty == nil }, "name == nil"),
            Row(#Predicate { $0.born! < day }, "born < CAST(50.0, \"NSDate\")"),
            Row(#Predicate { $0.code == uuid }, "code == CAST(\"00000000-0000-0000-0000-00000000000A\", \"NSUUID\")"),
            // To-one.
            Row(#Predicate { $0.club == nil }, "club == nil"),
            Row(#Predicate { $0.club?.title == "top" }, #"club.title == "top""#),
            Row(#Predicate { $0.club?.title == "" }, #"club.title == "" OR (club.title == nil AND club != nil)"#),
            Row(#Predicate { $0.club?.title != "" }, #"club.title != "" AND NOT (club.title == nil AND club != nil)"#),
            Row(#Predicate { $0.club?.motto == nil }, "club.motto == nil"),
            Row(#Predicate { ($0.club?.title ?? "") == "" }, #"club.title == "" OR club.title == nil"#),
            Row(#Predicate { ($0.club?.rating ?? 0) > 3 }, "club.rating > 3"),
            Row(#Predicate { $0.club!.rating > 3 }, "club.rating > 3"),
            Row(#Predicate { $0.club?.parent?.title == "top" }, #"club.parent.title == "top""#),
            Row(#Predicate { $0.clubTitle == "top" }, #"club.title == "top""#),
            Row(#Predicate { $0.club?.readers.count == 2 }, "TERNARY(club == nil, nil, club.readers.@count) == 2"),
            // To-many.
            Row(#Predicate { $0.books.isEmpty }, "books.@count == 0"),
            Row(#Predicate { $0.books.count > 1 }, "books.@count > 1"),
            Row(#Predicate { ($0.friends?.count ?? 0) > 1 }, "friends.@count > 1"),
            Row(#Predicate { $0.books.contains { $0.title == "Logs" } }, #"ANY books.title == "Logs""#),
            Row(#Predicate { $0.books.contains { $0.title == "Logs" && $0.pages > 100 } },
                #"SUBQUERY(books, $x, $x.title == "Logs" AND $x.pages > 100).@count > 0"#),
            Row(#Predicate { $0.books.allSatisfy { $0.pages < 250 } }, "SUBQUERY(books, $x, NOT $x.pages < 250).@count == 0"),
            Row(#Predicate { $0.books.filter { $0.pages > 50 }.count == 2 }, "SUBQUERY(books, $x, $x.pages > 50).@count == 2"),
            Row(#Predicate { reader in reader.books.contains { $0.pages > reader.age } },
                "SUBQUERY(books, $x, $x.pages > TERNARY(age == nil, 0, age)).@count > 0"),
            Row(#Predicate { $0.books.contains { $0.owner.books.contains { $0.pages > 250 } } },
                "SUBQUERY(books, $x, SUBQUERY($x.owner.books, $x2, $x2.pages > 250).@count > 0).@count > 0"),
            // Lists and ranges.
            Row(#Predicate { names.contains($0.city) }, #"city IN {"Ada", "Bob"}"#),
            Row(#Predicate { numbers.contains($0.age) && $0.points! < limit * 2 }, "(age IN {0} OR age == nil) AND points < 20"),
            Row(#Predicate { (1...5).contains($0.points!) }, "points BETWEEN {1, 5}"),
            Row(#Predicate { span.contains($0.age) }, "(age >= 0 AND age < 18) OR age == nil"),
            Row(#Predicate { (1..<40).contains($0.age) }, "age >= 1 AND age < 40"),
            Row(#Predicate { (-9...limit).contains($0.age) }, "age BETWEEN {-9, 10} OR age == nil"),
            Row(#Predicate { from.contains($0.age) }, "age >= 17"),
            // Numbers.
            Row(#Predicate { $0.age + 1 > limit }, "TERNARY(age == nil, 0, age) + 1 > 10"),
            Row(#Predicate { $0.points! / 2 * 2 - 1 == 3 }, "points / 2 * 2 - 1 == 3"),
            Row(#Predicate { $0.points! % 2 == -1 }, "modulus:by:(points, 2) == -1"),
            Row(#Predicate { -$0.points! > 2 }, "0 - points > 2"),
            Row(#Predicate { ($0.age > limit ? 1 : 2) == 2 }, "TERNARY(age > 10, 1, 2) == 2"),
            // Text.
            Row(#Predicate { $0.city.contains("o") }, #"city CONTAINS "o""#),
            Row(#Predicate { $0.city.starts(with: "R") }, #"city BEGINSWITH "R""#),
            Row(#Predicate { $0.city.starts(with: "") }, #"city BEGINSWITH "" OR city == nil"#),
            Row(#Predicate { $0.city > "P" }, #"city > "P""#),
            Row(#Predicate { $0.name?.localizedStandardContains("EVA") ?? false }, #"name CONTAINS[cdl] "EVA""#),
            Row(#Predicate { $0.city.contains(/R.m/) }, #"city MATCHES "(?s:.*)(?:R.m)(?s:.*)""#),
            // Only constants.
            Row(.true, "TRUEPREDICATE"),
            Row(#Predicate { limit > 3 && $0.name == ada }, #"name == "Ada""#),
            Row(#Predicate { limit < 3 && $0.name == ada }, "FALSEPREDICATE"),
        ]
    }

    @Test(arguments: StoreKind.allCases)
    func `Each form becomes a format that finds the same as Swift`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: ReaderGraph.model())
        let readers = try ReaderGraph.fill(stack)
        for row in Self.rows() {
            let predicate = try NSPredicate(translating: row.predicate)
            // As the format prints it, except for optional parentheses.
            #expect(Self.plain(predicate.predicateFormat) == Self.plain(row.format))
            #expect(try NSPredicate(parsing: predicate.predicateFormat).predicateFormat == predicate.predicateFormat)
            // If Swift throws for nil, the store finds nothing.
            let expected = ReaderGraph.ids(readers.filter { (try? row.predicate.evaluate($0)) ?? false })
            #expect(ReaderGraph.ids(readers.filter { predicate.evaluate(with: $0) }) == expected, "\(row.format)")
            let request = NSFetchRequest<Reader>(entityName: "Reader")
            request.predicate = predicate
            #expect(ReaderGraph.ids(try stack.anew().fetch(request)) == expected, "\(row.format)")
            #expect(ReaderGraph.ids(try stack.context.fetch(request)) == expected, "\(row.format)")
        }
    }

    private static func plain(_ format: String) -> String { format.filter { $0 != "(" && $0 != ")" } }

    @Test(arguments: StoreKind.allCases)
    func `Objects are captured by their IDs`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: ReaderGraph.model())
        let readers = try ReaderGraph.fill(stack)
        let ada = readers[0].objectID, top = try #require(readers[0].club).objectID, nobody: NSManagedObjectID? = nil
        let some = [readers[1].objectID, readers[3].objectID], set = Set(some)
        let logs = try #require(readers[0].books.first { $0.title == "Logs" }).objectID
        let rows: [(Predicate<Reader>, String, String)] = [
            (#Predicate { $0.objectID == ada }, "SELF == \(ada.uriRepresentation())", "a"),
            (#Predicate { $0.objectID != ada }, "SELF != \(ada.uriRepresentation())", "bcdef"),
            (#Predicate { $0.club?.objectID == top }, "club == \(top.uriRepresentation())", "ac"),
            (#Predicate { $0.club?.objectID != top }, "club != \(top.uriRepresentation())", "bdef"),
            (#Predicate { $0.club?.objectID == nobody }, "club == nil", "df"),
            (#Predicate { some.contains($0.objectID) }, "SELF IN {\(some.map { "\($0.uriRepresentation())" }.joined(separator: ", "))}", "bd"),
            (#Predicate { set.contains($0.objectID) }, "", "bd"),
            (#Predicate { $0.books.contains { $0.objectID == logs } }, "ANY books == \(logs.uriRepresentation())", "a"),
        ]
        for (predicate, format, expected) in rows {
            let translated = try #require(NSPredicate(predicate))
            if !format.isEmpty { #expect(translated.predicateFormat == format) }
            let request = NSFetchRequest<Reader>(entityName: "Reader")
            request.predicate = translated
            #expect(ReaderGraph.ids(try stack.anew().fetch(request)) == expected)
            #expect(ReaderGraph.ids(try readers.filter(predicate)) == expected)
            #expect(ReaderGraph.ids(readers.filter { translated.evaluate(with: $0) }) == expected)
        }
        let decoder = JSONDecoder()
        let archive = try JSONEncoder().encode(some)
        #expect(throws: DecodingError.self) { try decoder.decode([NSManagedObjectID].self, from: archive) }
        decoder.userInfo[try #require(CodingUserInfoKey.persistentStoreCoordinator)] = stack.coordinator
        #expect(try decoder.decode([NSManagedObjectID].self, from: archive) == some)
    }

    @Test
    func `A predicate that no store can answer is refused with the reason`() throws {
        let stack = try TestStack(.inMemory, model: ReaderGraph.model())
        let words = ["a": 1]
        let rows: [(Predicate<Reader>, [String])] = [
            (#Predicate { $0.isAdult }, ["Reader", "computes its value from Reader.age", "on age itself"]),
            (#Predicate { $0.loudName == "ADA" }, ["computes its value from Reader.name"]),
            (#Predicate { $0.halfAge == 3 }, ["computes its value from Reader.age"]),
            (#Predicate { $0.title == "x" }, ["reads several properties: Reader.name, Reader.city"]),
            (#Predicate { $0.longBooks.count == 1 }, ["reads several properties: Reader.books, Book.pages"]),
            (#Predicate { $0.clubName == "none" }, ["gives different values where one of Reader.club, Club.title is null", "on club.title itself"]),
            (#Predicate { $0.nameOrCity == "x" }, ["reads several properties: Reader.name, Reader.city"]),
            (#Predicate { $0.memory == 3 }, ["Reader.memory", "reads no property of the entity Reader", "name, points"]),
            (#Predicate { $0.hasChanges }, ["reads no property of the entity Reader"]),
            (#Predicate { words[$0.city] == 1 }, ["A subscript of a value that depends on the object cannot be asked of a store."]),
            (#Predicate { $0.born!.timeIntervalSince1970 > 3 }, ["none of a managed object's"]),
        ]
        for (predicate, messages) in rows {
            #expect(NSPredicate(predicate) == nil)
            let error = #expect(throws: PredicateTranslationError.self) { try NSPredicate(translating: predicate) }
            for message in messages { #expect(error?.localizedDescription.contains(message) == true, "\(error?.reason ?? "-")") }
        }
        _ = stack
    }

    @Test
    func `A class that no model names is refused`() {
        final class Stranger: NSManagedObject { var name: String? { value(forKey: "name") as? String } }
        let error = #expect(throws: PredicateTranslationError.self) { try NSPredicate(translating: #Predicate<Stranger> { $0.name == nil }) }
        #expect(error?.reason.contains("names the class Stranger") == true)
    }

    @Test
    func `An enumeration is compared by its raw value`() throws {
        let stack = try TestStack(.inMemory, model: ReaderGraph.model())
        let reading = try KeyPathReading.of(\Reader.level, entity: try #require(stack.coordinator.managedObjectModel.entitiesByName["Reader"]))
        #expect(reading.keys == ["level"])
        #expect(PredicateTranslation.constant(Reader.Level.gold).map { PredicateValue.integer(2).isEqual($0) } == true)
    }

    @Test
    func `An accessor that traps for null is not called with it`() throws {
        let stack = try TestStack(.inMemory, model: ReaderGraph.model()), day = Date(timeIntervalSinceReferenceDate: 50)
        #expect(try NSPredicate(translating: #Predicate<Reader> { $0.birth < day }).predicateFormat == "born < CAST(50.0, \"NSDate\")")
        _ = stack
    }

    @Test(arguments: StoreKind.planning)
    func `An index serves a translated predicate`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: ReaderGraph.model())
        for number in 0..<500 { stack.insert("Reader", ["name": "r\(number)", "age": number]) }
        try stack.context.save()
        func run(_ predicate: Predicate<Reader>, _ order: [SortDescriptor<Reader>] = [], limit: Int = 0) throws -> QueryStatistics {
            let request = try NSFetchRequest<Reader>(predicate: predicate, sortBy: order)
            request.fetchLimit = limit
            _ = try stack.context.fetch(request)
            return stack.context.lastQuery
        }
        #expect(try run(#Predicate { $0.name == "r77" }).access == [.index("index:byName")])
        #expect(stack.context.lastQuery.rowsVisited == 1)
        #expect(try run(#Predicate { $0.age >= 490 && $0.name != nil }).rowsVisited == 10)
        #expect(try run(#Predicate { (100...109).contains($0.age) }).rowsVisited == 10)
        #expect(try run(#Predicate { $0.age > 10 }, [SortDescriptor(\.age, order: .reverse)], limit: 20).rowsVisited == 20)
        #expect(stack.context.lastQuery.isOrderedByIndex)
    }

    @Test(arguments: StoreKind.allCases)
    func `Key paths can sort`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: ReaderGraph.model())
        let readers = try ReaderGraph.fill(stack)
        func ids(_ order: NSSortDescriptor...) throws -> String {
            let request = NSFetchRequest<Reader>(entityName: "Reader")
            request.sortDescriptors = order + [NSSortDescriptor(key: "id", ascending: true)]
            return try stack.anew().fetch(request).map { $0.value(forKey: "id") as! String }.joined()
        }
        #expect(try ids(NSSortDescriptor(keyPath: \Reader.name, ascending: true)) == "dfabce")
        #expect(try ids(NSSortDescriptor(keyPath: \Reader.age, ascending: false)) == "abcedf")
        #expect(try ids(NSSortDescriptor(keyPath: \Reader.club?.title, ascending: false)) == "acbdef")
        #expect(try ids(NSSortDescriptor(keyPath: \Reader.isActive, ascending: false)) == "adbcef")
        #expect(try ids(NSSortDescriptor(SortDescriptor(\Reader.name, order: .reverse))) == "ecbadf")
        #expect(try ids(NSSortDescriptor(SortDescriptor(\Reader.city, comparator: .lexical))) == "bfdcae")
        #expect(try ids(NSSortDescriptor(SortDescriptor(\Reader.points))) == "efbcad")
        // In memory, in Foundation's order.
        let byAge = NSSortDescriptor(keyPath: \Reader.age, ascending: false)
        #expect(byAge.compare(readers[0], to: readers[1]) == .orderedAscending && byAge.compare(readers[1], to: readers[0]) == .orderedDescending)
        func refusal(_ order: NSSortDescriptor) -> String {
            (#expect(throws: (any Error).self) { try ids(order) } as? NSError)?.localizedDescription ?? ""
        }
        #expect(refusal(NSSortDescriptor(keyPath: \Reader.halfAge, ascending: true)).contains("computes its value from Reader.age"))
        #expect(refusal(NSSortDescriptor(keyPath: \Reader.memory, ascending: true)).contains("reads no property"))
        #expect(refusal(NSSortDescriptor(keyPath: \Reader.objectID, ascending: true)).contains("IDs"))
        #expect(refusal(NSSortDescriptor(keyPath: \Reader.books.count, ascending: true)).contains("computes its value from Reader.books"))
        // Foundation's descriptor, whose key path cannot be probed.
        let own = NSSortDescriptor(keyPath: \Reader.age, ascending: true, comparator: { _, _ in .orderedSame })
        #expect(refusal(own).contains("sorted by keys"))
    }

    @Test(arguments: StoreKind.allCases)
    func `A translated predicate works with everything that takes a predicate`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: ReaderGraph.model())
        let readers = try ReaderGraph.fill(stack)
        let named = try #require(NSPredicate(#Predicate<Reader> { $0.name != nil }))
        let both = NSCompoundPredicate(andPredicateWithSubpredicates: [named, NSPredicate(format: "age > 10")])
        #expect(both.predicateFormat == "name != nil AND age > 10")
        #expect(named is NSComparisonPredicate)
        let request = try NSFetchRequest(predicate: #Predicate<Reader> { $0.age > 10 })
        #expect(try stack.context.count(for: request) == 2)
        request.predicate = both
        #expect(ReaderGraph.ids(try stack.context.fetch(request)) == "ab")
        #expect(NSExpression(forKeyPath: \Reader.club?.title).keyPath == "club.title")
        let expression = NSExpression(forKeyPath: \Reader.isAdult)
        request.predicate = NSComparisonPredicate(
            leftExpression: expression, rightExpression: NSExpression(forConstantValue: 1), modifier: .direct, type: .equalTo)
        #expect(
            (#expect(throws: (any Error).self) { try stack.context.fetch(request) } as? NSError)?.localizedDescription.contains("computes") == true)
        // Unsaved objects count.
        readers[5].name = "Eve"
        request.predicate = named
        #expect(ReaderGraph.ids(try stack.context.fetch(request)) == "abcef")
        try stack.context.save()
        guard StoreKind.batching.contains(kind) else { return }
        let update = NSBatchUpdateRequest(entityName: "Reader")
        update.predicate = try NSPredicate(translating: #Predicate<Reader> { $0.name?.starts(with: "E") == true })
        update.propertiesToUpdate = ["age": 99]
        update.resultType = .updatedObjectsCountResultType
        let result = try stack.context.execute(update) as? NSBatchUpdateResult
        #expect(result?.result as? Int == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `A class of an abstract entity is translated through its subclasses`(kind: StoreKind) throws {
        let ware = NSEntityDescription(), cup = NSEntityDescription()
        (ware.name, ware.managedObjectClassName, ware.isAbstract) = ("Ware", NSStringFromClass(Ware.self), true)
        (cup.name, cup.managedObjectClassName) = ("Cup", NSStringFromClass(Cup.self))
        ware.properties = [TestStack.attribute("price", .integer32AttributeType, optional: false, default: 0)]
        cup.properties = [TestStack.attribute("volume", .integer32AttributeType, optional: false, default: 0)]
        ware.subentities = [cup]
        let model = NSManagedObjectModel()
        model.entities = [ware, cup]
        let stack = try TestStack(kind, model: model)
        for number in 1...3 { stack.insert("Cup", ["price": number, "volume": 4 - number]) }
        try stack.context.save()
        let dear = try NSFetchRequest<Ware>(predicate: #Predicate { $0.price < 3 }, sortBy: [SortDescriptor(\.price, order: .reverse)])
        #expect(dear.predicate?.predicateFormat == "price < 3")
        #expect(try stack.context.fetch(dear).map(\.price) == [2, 1])
        let small = try NSFetchRequest<Cup>(predicate: #Predicate { $0.price < 3 && $0.volume < 3 }, sortBy: [SortDescriptor(\.volume)])
        #expect(try stack.context.fetch(small).map(\.price) == [2])
    }

    @Test
    func `Any thread may translate`() throws {
        let stack = try TestStack(.inMemory, model: ReaderGraph.model())
        let predicate = #Predicate<Reader> { $0.name == "x" && $0.club?.title == "y" && $0.books.contains { $0.pages > 3 } }
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            #expect(NSPredicate(predicate)?.predicateFormat == #"name == "x" AND club.title == "y" AND ANY books.pages > 3"#)
        }
        // A key path is analysed once.
        let entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Reader"])
        let reading = try KeyPathReading.of(\Reader.name, entity: entity)
        #expect(entity.keyPathReadings[\Reader.name]?.keys == reading.keys && entity.keyPathReadings[\Reader.ratio] == nil)
    }
}
