import Foundation
import Testing

@testable import Heartwood

@Suite(.enabled(if: CoreDataStoreFiles.canBeMade, CoreDataStoreFiles.needPython)) struct SQLiteStoreTests {
    private static func fetch(
        _ entity: String, _ format: String? = nil, _ arguments: [Any] = [], sort: [NSSortDescriptor] = [], in context: NSManagedObjectContext
    ) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = format.map { NSPredicate(format: $0, argumentArray: arguments) }
        request.sortDescriptors = sort
        return try context.fetch(request)
    }

    private static func keys(_ value: Any?) -> [String] {
        let objects = (value as? NSOrderedSet)?.array ?? (value as? NSSet)?.allObjects ?? value.map { [$0] } ?? []
        let names = objects.compactMap { ($0 as? NSManagedObject)?.objectID }.map { "\($0.entity.name ?? "")\($0.key.row)" }
        return value is NSSet ? names.sorted() : names
    }

    private static func keeper(_ row: Int, in context: NSManagedObjectContext) throws -> NSManagedObject {
        let uri = try #require(URL(string: "x-coredata://\(Zoo.identifier)/Keeper/p\(row)"))
        let id = try #require(context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri))
        #expect(id.uriRepresentation() == uri)
        return try context.existingObject(with: id)
    }

    private static func error(_ body: () throws -> Void) -> NSError? { #expect(throws: (any Error).self, performing: body) as NSError? }

    // MARK: Values

    @Test
    func `Every type of attribute is read, and null is nil`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let context = try Zoo(in: folder).context()
            let ann = try Self.keeper(1, in: context), nobody = try Self.keeper(2, in: context), last = try Self.keeper(7, in: context)
            #expect(ann.value(forKey: "age") as? Int == 30 && ann.value(forKey: "big") as? Int64 == 9_007_199_254_740_993)
            #expect(ann.value(forKey: "done") as? Bool == true && ann.value(forKey: "short") as? Int == -5)
            #expect(ann.value(forKey: "price") as? Decimal == Decimal(string: "3.25"))
            #expect(ann.value(forKey: "ratio") as? Float == 0.5 && ann.value(forKey: "score") as? Double == 1.5)
            #expect(ann.value(forKey: "since") as? Date == Date(timeIntervalSinceReferenceDate: 100.25))
            #expect(ann.value(forKey: "link") as? URL == URL(string: "https://a.b/c") && ann.value(forKey: "name") as? String == "Ann")
            #expect(ann.value(forKey: "token") as? UUID == Zoo.uuid && ann.value(forKey: "bytes") as? Data == Data([1, 2]))
            #expect(ann.value(forKey: "image") as? Data == Data([0xCA, 0xFE]))
            #expect((ann.value(forKey: "home") as? [String: Any])?["city"] as? String == "Ulm")
            for name in nobody.entity.attributesByName.keys { #expect(nobody.value(forKey: name) == nil, "\(name)") }
            // SQLite stores whole reals as integers, and a decimal may be text.
            #expect(last.value(forKey: "ratio") as? Float == 2 && last.value(forKey: "price") as? Decimal == Decimal(string: "12.5"))
            #expect(last.value(forKey: "name") as? String == "ann" && last.value(forKey: "big") as? Int64 == .min)
        }
    }

    @Test
    func `Entities of one table have their own columns of one name, and no other entity's values`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let context = try Zoo(in: folder).context()
            let cats = try Self.fetch("Cat", in: context), dogs = try Self.fetch("Dog", in: context)
            #expect(cats.map { $0.value(forKey: "title") as? String } == ["Sir", nil])
            #expect(dogs.map { $0.value(forKey: "title") as? Int } == [7, 8])
            #expect(Set(try Self.fetch("Animal", in: context).map { "\($0.entity.name ?? "")\($0.objectID.key.row)" })
                == ["Animal1", "Cat2", "Dog3", "Dog4", "Cat5"])
        }
    }

    // MARK: Relationships

    @Test(arguments: [true, false])
    func `Relationships of every kind are read, with and without SQLite's indexes`(hasIndexes: Bool) throws {
        let dropped = "DROP INDEX ZANIMAL_ZKEEPER_INDEX; DROP INDEX Z_1HELPERS_Z_4HELPERS_INDEX;"
        try CoreDataStoreFiles.withFolder { folder in
            let context = try Zoo(in: folder, hasIndexes ? "" : dropped).context()
            let ann = try Self.keeper(1, in: context), nobody = try Self.keeper(2, in: context), third = try Self.keeper(3, in: context)
            #expect(Self.keys(ann.value(forKey: "animals")) == ["Cat2", "Dog3", "Animal1"])
            #expect(Self.keys(nobody.value(forKey: "animals")) == ["Cat5"] && Self.keys(third.value(forKey: "animals")) == [])
            #expect(Self.keys(ann.value(forKey: "notes")) == ["Note2", "Note1"] && Self.keys(third.value(forKey: "notes")) == ["Note4"])
            #expect(Self.keys(ann.value(forKey: "friends")) == ["Keeper2", "Keeper3"])
            // The pair of 1 and 3 is stored in one direction.
            #expect(Self.keys(third.value(forKey: "friends")) == ["Keeper1"])
            #expect(Self.keys(try Self.keeper(7, in: context).value(forKey: "friends")) == ["Keeper7"])
            #expect(Self.keys(ann.value(forKey: "helped")) == ["Dog3", "Dog4", "Cat2"])
            // The join row that leads to no animal is left out.
            #expect(Self.keys(third.value(forKey: "helped")) == ["Cat2"])
            #expect(Self.keys(ann.value(forKey: "best")) == ["Dog3"] && Self.keys(third.value(forKey: "best")) == ["Cat5"])
            #expect(nobody.value(forKey: "best") == nil)
            let tom = try #require(try Self.fetch("Cat", "name == 'Tom'", in: context).first)
            #expect(Self.keys(tom.value(forKey: "helpers")) == ["Keeper1", "Keeper3"] && Self.keys(tom.value(forKey: "keeper")) == ["Keeper1"])
        }
    }

    @Test
    func `A reference to a row that is not there is a fault that cannot be fulfilled`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let context = try Zoo(in: folder).context()
            let best = try #require(try Self.keeper(7, in: context).value(forKey: "best") as? NSManagedObject)
            #expect(best.objectID.uriRepresentation().absoluteString.hasSuffix("Dog/p77") && best.isFault)
            #expect(best.value(forKey: "name") == nil)
            let error = Self.error { _ = try context.existingObject(with: best.objectID) }
            #expect(error?.code == NSManagedObjectReferentialIntegrityError)
        }
    }

    // MARK: Fetches

    @Test(arguments: [true, false])
    func `A fetch finds what the predicate says of the objects, for each type beside each comparison and value`(hasIndexes: Bool) throws {
        let columns = ["ZAGE", "ZBIG", "ZSHORT", "ZPRICE", "ZSCORE", "ZSINCE", "ZNAME DESC", "ZCITY", "ZTOKEN", "ZBYTES", "ZLINK", "ZBEST"]
        let indexes = columns.enumerated().map { "CREATE INDEX i\($0) ON ZKEEPER (\($1));" }.joined()
        try CoreDataStoreFiles.withFolder { folder in
            let zoo = try Zoo(in: folder, hasIndexes ? indexes : ""), context = try zoo.context()
            let all = try Self.fetch("Keeper", in: context)
            let ann = try Self.keeper(1, in: context), dog = try #require(try Self.fetch("Dog", in: context).first)
            let values: [String: [Any]] = [
                "age": [0, 30, -1], "big": [Int64.min, 9_007_199_254_740_993, 0], "done": [true, false], "short": [-5, 32767],
                "price": [NSDecimalNumber(string: "3.25"), 12.5, 0], "ratio": [0.5, 2, 0], "score": [1.5, 0, 1e300],
                "since": [Date(timeIntervalSinceReferenceDate: 100.25), Date(timeIntervalSinceReferenceDate: 0)],
                "name": ["Ann", "", "ann"], "home.city": ["Ulm", "Äpfel", ""], "token": [Zoo.uuid as Any], "bytes": [Data([1]), Data()],
                "image": [Data([0xCA, 0xFE]), Data()], "link": [URL(string: "https://a.b/c") as Any], "best": [dog], "best.name": ["Rex"],
                "objectID": [ann.objectID],
            ]
            var count = 0
            for (key, list) in values.sorted(by: { $0.key < $1.key }) {
                var formats = [("\(key) == nil", [Any]()), ("\(key) != nil", []), ("\(key) IN %@", [list]), ("NOT (\(key) == %@)", [list[0]])]
                let isOrdered = !["done", "token", "bytes", "image", "link", "best", "objectID"].contains(key)
                for value in list {
                    let comparisons = ["==", "!="] + (isOrdered ? ["<", "<=", ">", ">="] : [])
                    formats += comparisons.map { ("\(key) \($0) %@", [value]) }
                    formats.append(("\(key) == %@ AND age > 0", [value]))
                    formats.append(("\(key) == %@ OR age == nil", [value]))
                }
                if key == "name" || key == "home.city" {
                    formats += ["BEGINSWITH", "CONTAINS", "ENDSWITH[c]", "==[c]", "LIKE[cd]", "MATCHES"].map { ("\(key) \($0) %@", ["Ann"]) }
                }
                for (format, arguments) in formats {
                    let predicate = NSPredicate(format: format, argumentArray: arguments)
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Keeper")
                    request.predicate = predicate
                    let expected = all.filter { predicate.evaluate(with: $0) }.map(\.objectID)
                    #expect(try context.fetch(request).map(\.objectID) == expected, "\(format) \(arguments)")
                    #expect(try context.count(for: request) == expected.count, "\(format) \(arguments)")
                    count += 1
                }
            }
            #expect(count > 250)
        }
    }

    @Test
    func `A fetch sorts by each attribute, and cuts its window`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let context = try Zoo(in: folder).context(), all = try Self.fetch("Keeper", in: context)
            for key in ["age", "big", "price", "score", "since", "name", "home.city", "best.name"] {
                for isAscending in [true, false] {
                    let descriptor = NSSortDescriptor(key: key, ascending: isAscending)
                    let whole = try Self.fetch("Keeper", sort: [descriptor], in: context).map(\.objectID)
                    #expect(Set(whole) == Set(all.map(\.objectID)) && whole.count == all.count, "\(key)")
                    let sorted = whole.compactMap { context.object(with: $0).value(forKeyPath: key) }
                    for (a, b) in zip(sorted, sorted.dropFirst()) {
                        let order = Self.order(a, b)
                        #expect(order == .orderedSame || (order == .orderedAscending) == isAscending, "\(key): \(a), \(b)")
                    }
                    for (offset, limit) in [(0, 1), (1, 2), (0, 0), (3, 5), (9, 1)] {
                        let request = NSFetchRequest<NSManagedObject>(entityName: "Keeper")
                        request.sortDescriptors = [descriptor]
                        (request.fetchOffset, request.fetchLimit) = (offset, limit)
                        let window = limit == 0 ? whole.dropFirst(offset) : whole.dropFirst(offset).prefix(limit)
                        #expect(try context.fetch(request).map(\.objectID) == Array(window), "\(key) from \(offset), \(limit)")
                    }
                }
            }
        }
    }

    private static func order(_ a: Any, _ b: Any) -> ComparisonResult {
        switch (a, b) {
        case (let a as NSNumber, let b as NSNumber): a.compare(b)
        case (let a as Date, let b as Date): a.compare(b)
        case (let a as String, let b as String): a.compare(b, options: .literal)
        default: .orderedSame
        }
    }

    @Test
    func `A fetch by objects or by a column of an index reads their rows, and no others`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let zoo = try Zoo(in: folder), context = try zoo.context()
            let ann = try Self.keeper(1, in: context), third = try Self.keeper(3, in: context)
            #expect(try Self.fetch("Keeper", "SELF == %@", [ann], in: context) == [ann])
            #expect(context.lastQuery.rowsVisited == 1 && context.lastQuery.access == [.rows])
            #expect(try Self.fetch("Keeper", "SELF IN %@ AND age == 0", [[third, ann]], in: context) == [third])
            #expect(context.lastQuery.rowsVisited == 2)
            #expect(try Self.fetch("Keeper", "age >= 0", in: context).count == 2)
            #expect(context.lastQuery.access == [.scan])
            #expect(try Self.fetch("Dog", "keeper == %@ AND title > 3", [ann], in: context).count == 1)
            #expect(context.lastQuery.access == [.index("ZANIMAL_ZKEEPER_INDEX")] && context.lastQuery.rowsVisited == 1)
            try CoreDataStoreFiles.execute("CREATE INDEX names ON ZKEEPER (ZNAME COLLATE BINARY ASC)", at: zoo.file)
            #expect(try Self.fetch("Keeper", "name IN {'Ann', 'nobody', 'ann'}", in: context).map(\.objectID.key.row) == [1, 7])
            #expect(context.lastQuery.access == [.index("names")] && context.lastQuery.rowsVisited == 2)
            #expect(try Self.fetch("Keeper", "name == 'Ann' OR name == 'ann'", in: context).count == 2)
            #expect(context.lastQuery.access == [.index("names")] && context.lastQuery.rowsVisited == 2)
            #expect(try Self.fetch("Keeper", "name == 'Ann' OR name == nil OR age == 3", in: context).count >= 1)
            #expect(context.lastQuery.access == [.scan])
        }
    }

    @Test
    func `Dictionaries, groups and conditions through relationships are answered`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let context = try Zoo(in: folder).context()
            let request = NSFetchRequest<NSDictionary>(entityName: "Keeper")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["name", "age"]
            request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
            request.predicate = NSPredicate(format: "age != nil")
            #expect(try context.fetch(request).map { $0["age"] as? Int } == [-1, 0, 30])
            #expect(try Self.fetch("Keeper", "ANY animals.name == 'Rex'", in: context).map(\.objectID.key.row) == [1])
            #expect(try Self.fetch("Keeper", "animals.@count > 1", in: context).map(\.objectID.key.row) == [1])
            #expect(try Self.fetch("Animal", "keeper.name == 'Ann'", in: context).count == 3)
        }
    }

    // MARK: The owner's changes

    @Test
    func `A fetch and a fault see what the owner has committed meanwhile`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let zoo = try Zoo(in: folder), context = try zoo.context()
            let ann = try Self.keeper(1, in: context)
            #expect(ann.value(forKey: "age") as? Int == 30)
            try CoreDataStoreFiles.execute(
                "UPDATE ZKEEPER SET ZAGE = 31, Z_OPT = 2 WHERE Z_PK = 1; INSERT INTO ZKEEPER (Z_PK, Z_ENT, Z_OPT, ZAGE) VALUES (9, 4, 1, 31); "
                    + "INSERT INTO Z_4FRIENDS VALUES (1, 9);", at: zoo.file)
            #expect(ann.value(forKey: "age") as? Int == 30, "an object keeps the values that it has read")
            #expect(try Self.fetch("Keeper", "age == 31", in: context).map(\.objectID.key.row) == [1, 9])
            context.refresh(ann, mergeChanges: false)
            #expect(ann.value(forKey: "age") as? Int == 31)
            #expect(Self.keys(ann.value(forKey: "friends")) == ["Keeper2", "Keeper3", "Keeper9"])
        }
    }

    @Test
    func `Another store in the file's place is an error, and so is one that no longer fits the model`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let zoo = try Zoo(in: folder), context = try zoo.context()
            #expect(try Self.fetch("Keeper", in: context).count == 4)
            try CoreDataStoreFiles.execute("ALTER TABLE ZKEEPER RENAME COLUMN ZAGE TO ZYEARS", at: zoo.file)
            var error = Self.error { _ = try Self.fetch("Keeper", in: context) }
            #expect(error?.code == NSPersistentStoreIncompatibleSchemaError && error?.userInfo["property"] as? String == "age")
            try CoreDataStoreFiles.execute("UPDATE Z_METADATA SET Z_UUID = 'other'", at: zoo.file)
            error = Self.error { _ = try Self.fetch("Keeper", in: context) }
            #expect(error?.localizedDescription.contains("Another store has replaced") == true)
        }
    }

    // MARK: Refusals

    @Test
    func `A save, a batch request and other writes are refused with the way to convert the store`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let zoo = try Zoo(in: folder), context = try zoo.context()
            let before = try Data(contentsOf: zoo.file)
            let coordinator = try #require(context.persistentStoreCoordinator), store = coordinator.persistentStores[0]
            #expect(store.isReadOnly && store.type == NSSQLiteStoreType && store.identifier == Zoo.identifier)
            #expect(store.metadata[NSStoreTypeKey] as? String == NSSQLiteStoreType && store.metadata[NSStoreUUIDKey] as? String == Zoo.identifier)
            let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: zoo.file)
            #expect(metadata[NSStoreUUIDKey] as? String == Zoo.identifier)
            try Self.keeper(1, in: context).setValue(5, forKey: "age")
            let delete = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Keeper"))
            let writes: [() throws -> Void] = [
                { try context.save() }, { _ = try context.execute(delete) },
                { try coordinator.destroyPersistentStore(at: zoo.file, type: .sqlite) },
                { try NSPersistentStoreCoordinator.setMetadata([:], type: .sqlite, at: zoo.file) },
            ]
            for write in writes {
                let error = Self.error(write)
                #expect(error?.code == CocoaError.Code.fileWriteNoPermission.rawValue, "\(String(describing: error))")
                #expect(error?.localizedDescription.contains("heartwood convert") == true)
            }
            #expect(try Data(contentsOf: zoo.file) == before)
        }
    }

    @Test
    func `Files that are no stores of Core Data's are refused with what they are`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let model = Zoo.model(), coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            func refusal(_ name: String) -> NSError? {
                Self.error { try coordinator.addPersistentStore(type: .sqlite, configuration: nil, at: folder.appendingPathComponent(name)) }
            }
            #expect(refusal("none")?.code == CocoaError.Code.fileReadNoSuchFile.rawValue)
            try CoreDataStoreFiles.execute("CREATE TABLE books (title TEXT); CREATE TABLE people (name TEXT)", at: folder.appendingPathComponent("other"))
            let other = refusal("other")
            #expect(other?.code == NSPersistentStoreIncompatibleSchemaError && other?.localizedDescription.contains("books, people") == true)
            var random = SystemRandomNumberGenerator()
            let bytes = Data((0..<8192).map { _ in UInt8.random(in: 0...255, using: &random) })
            for (name, content) in [("text", Data("no database".utf8)), ("random", bytes), ("nothing", Data())] {
                try content.write(to: folder.appendingPathComponent(name))
                let error = refusal(name)
                #expect([259, NSPersistentStoreIncompatibleSchemaError].contains(error?.code ?? 0), "\(name): \(String(describing: error))")
            }
            #expect(coordinator.persistentStores.isEmpty)
        }
    }

    @Test
    func `A value that does not fit its attribute is an error with the row and the column`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let wrong = [
                ("ZAGE", "'old'"), ("ZTOKEN", "X'01'"), ("ZNAME", "X'FF'"), ("ZSINCE", "'soon'"), ("ZPRICE", "X'00'"), ("ZBYTES", "5"),
                ("ZBEST", "'x'"),
            ]
            for (index, (column, value)) in wrong.enumerated() {
                let context = try Zoo(in: folder, "UPDATE ZKEEPER SET \(column) = \(value) WHERE Z_PK = 3;", name: "\(index).sqlite").context()
                let error = Self.error { _ = try Self.fetch("Keeper", in: context) }
                #expect(error?.code == NSSQLiteError, "\(column)")
                #expect(error?.localizedDescription.contains("row 3 of ZKEEPER has in \(column)") == true, "\(column)")
                #expect(try Self.fetch("Animal", in: context).count == 5)
            }
        }
    }

    @Test
    func `External data come from the file that the column names; a missing one is an error for its attribute alone`() throws {
        try CoreDataStoreFiles.withFolder { folder in
            let name = UUID().uuidString, tag = Array(name.utf8).map { String(format: "%02X", $0) }.joined()
            let update = "UPDATE ZKEEPER SET ZIMAGE ="
            let zoo = try Zoo(in: folder, "\(update) X'02\(tag)00' WHERE Z_PK = 1; \(update) X'07' WHERE Z_PK = 3;")
            let context = try zoo.context(), ann = try Self.keeper(1, in: context)
            #expect(ann.value(forKey: "name") as? String == "Ann" && ann.value(forKey: "image") == nil)
            #expect((context.readingFailure as NSError?)?.code == CocoaError.Code.fileReadNoSuchFile.rawValue)
            #expect((context.readingFailure as NSError?)?.localizedDescription.contains(name) == true)
            context.rollback()
            let place = folder.appendingPathComponent(".Zoo_SUPPORT/_EXTERNAL_DATA")
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            try Data(repeating: 7, count: 200_000).write(to: place.appendingPathComponent(name))
            #expect(ann.value(forKey: "image") as? Data == Data(repeating: 7, count: 200_000))
            _ = try Self.keeper(3, in: context).value(forKey: "image")
            #expect((context.readingFailure as NSError?)?.localizedDescription.contains("without the tag") == true)
        }
    }

    // MARK: Containers

    @Test
    func `A container opens an SQLite store by its type, and several contexts read it at once`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let zoo = try Zoo(in: folder)
        let container = NSPersistentContainer(name: "Zoo", managedObjectModel: zoo.model)
        let description = NSPersistentStoreDescription(url: zoo.file)
        description.type = NSSQLiteStoreType
        container.persistentStoreDescriptions = [description]
        container.loadPersistentStores { _, error in #expect(error == nil) }
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try await container.performBackgroundTask { context in
                        var sum = 0
                        for _ in 0..<20 {
                            context.reset()
                            for keeper in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Keeper")) {
                                sum += (keeper.value(forKey: "friends") as? NSSet)?.count ?? 0
                            }
                        }
                        return sum
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts == Array(repeating: 20 * 5, count: 8))
    }
}
