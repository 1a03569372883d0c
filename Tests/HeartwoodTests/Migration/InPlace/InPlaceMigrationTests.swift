import Foundation
import RecordLog
import Testing

@testable import Heartwood

/// A record log migrates to another version of its model in its own file: the cost of each change, and the effect on the rows.
struct InPlaceMigrationTests {
    typealias Entity = ModelVersion.Entity
    typealias Attribute = ModelVersion.Attribute
    typealias Relationship = ModelVersion.Relationship

    /// Notes with a text and a number.
    private static var notes: ModelVersion {
        ModelVersion(Entity(name: "Note", attributes: [Attribute(name: "text"), Attribute(name: "number", type: .integer16AttributeType)]))
    }

    private static func fill(_ count: Int) -> (NSManagedObjectContext) -> Void {
        { context in
            for number in 0..<count {
                let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
                note.setValue("note \(number)", forKey: "text")
                if number % 3 != 0 { note.setValue(number % 1000, forKey: "number") }
            }
        }
    }

    @Test
    func `Renaming, adding and removing properties writes no row`() throws {
        let store = try VersionedStore(Self.notes, fill: Self.fill(5000))
        try store.close()
        let before = try store.bytes
        let version = ModelVersion(
            Entity(
                name: "Memo", was: "Note", attributes: [Attribute(name: "body", was: "text"), Attribute(name: "added", type: .dateAttributeType)],
                relationships: [Relationship(name: "folder", destination: "Folder", inverse: "memos", isToMany: false)]),
            Entity(name: "Folder", attributes: [Attribute(name: "title")], relationships: [
                Relationship(name: "memos", destination: "Memo", inverse: "folder"), Relationship(name: "related", destination: "Folder"),
            ]))
        #expect(try store.migrate(to: version))
        // The new relationship's index is written, so that no opening makes it anew.
        #expect(try store.bytes - before < 96 << 10, "5,000 rows stay where they are")
        let context = try store.open(version)
        let memos = try context.all("Memo")
        #expect(memos.count == 5000 && memos[17].value(forKey: "body") as? String == "note 17" && memos[17].value(forKey: "added") == nil)
        // Rows of both layouts, and a relationship between objects of both.
        let folder = NSEntityDescription.insertNewObject(forEntityName: "Folder", into: context)
        for memo in memos.prefix(3) { memo.setValue(folder, forKey: "folder") }
        memos[1].setValue(Date(timeIntervalSinceReferenceDate: 1), forKey: "added")
        let new = NSEntityDescription.insertNewObject(forEntityName: "Memo", into: context)
        new.setValue(folder, forKey: "folder")
        try context.save()
        let again = try store.open(version)
        #expect((try again.all("Folder")[0].value(forKey: "memos") as? Set<NSManagedObject>)?.count == 4)
        #expect(try again.all("Memo").compactMap { $0.value(forKey: "added") }.count == 1)
        try store.close()
        #expect(try store.problems == [])
    }

    @Test
    func `An ID from before the migration leads to the same object`() throws {
        let store = try VersionedStore(Self.notes, fill: Self.fill(3))
        let ids = try store.context.all("Note").map { $0.objectID.uriRepresentation() }
        var version = Self.notes
        version["Note"].attributes.append(Attribute(name: "added", initial: "x"))
        let context = try store.migrated(to: version)
        let found = try ids.map {
            try context.existingObject(with: #require(context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: $0)))
        }
        #expect(found.map { $0.value(forKey: "text") as? String } == ["note 0", "note 1", "note 2"])
        #expect(found.allSatisfy { $0.value(forKey: "added") as? String == "x" })
    }

    @Test
    func `A removed attribute does not come back with its values`() throws {
        let store = try VersionedStore(Self.notes, fill: Self.fill(4))
        var without = Self.notes
        without["Note"].attributes.removeLast()
        without["Note"].indexes = [("byText", ["text"], "text != nil")]
        try store.migrated(to: without)
        var again = Self.notes
        again["Note"].indexes = [("partial", ["number"], "number > 0"), ("byText", ["text"], "text != nil")]
        let context = try store.migrated(to: again)
        store.store?.indexing.wait()
        #expect(try context.all("Note").allSatisfy { $0.value(forKey: "number") == nil })
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.predicate = NSPredicate(format: "number > 0")
        #expect(try context.fetch(request).isEmpty, "the index knows nothing of the column that had this name")
        try store.close()
        #expect(try store.problems == [])
    }

    @Test
    func `Swapped names are swapped`() throws {
        let version = ModelVersion(
            Entity(name: "A", attributes: [Attribute(name: "x"), Attribute(name: "y")]), Entity(name: "B", attributes: [Attribute(name: "x")]))
        let store = try VersionedStore(version) { context in
            let a = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
            a.setValue("ax", forKey: "x")
            a.setValue("ay", forKey: "y")
            NSEntityDescription.insertNewObject(forEntityName: "B", into: context).setValue("bx", forKey: "x")
        }
        let context = try store.migrated(to: ModelVersion(
            Entity(name: "A", was: "B", attributes: [Attribute(name: "x")]),
            Entity(name: "B", was: "A", attributes: [Attribute(name: "x", was: "y"), Attribute(name: "y", was: "x")])))
        #expect(try context.all("A").map { $0.value(forKey: "x") as? String } == ["bx"])
        #expect(try context.all("B").map { [$0.value(forKey: "x") as? String, $0.value(forKey: "y") as? String] } == [["ay", "ax"]])
    }

    @Test
    func `A required attribute takes its default if there is no value`() throws {
        let store = try VersionedStore(Self.notes, fill: Self.fill(9))
        var version = Self.notes
        version["Note"].attributes[1] = Attribute(name: "number", type: .integer16AttributeType, isOptional: false, initial: 7)
        version["Note"].attributes.append(Attribute(name: "kind", isOptional: false, initial: "plain"))
        let context = try store.migrated(to: version)
        #expect(try context.all("Note").map { $0.value(forKey: "number") as? Int } == [7, 1, 2, 7, 4, 5, 7, 7, 8].enumerated().map { $0.offset % 3 == 0 ? 7 : $0.offset })
        #expect(try context.all("Note").allSatisfy { $0.value(forKey: "kind") as? String == "plain" })
    }

    @Test
    func `A required attribute without a value leaves the store as it is`() throws {
        let store = try VersionedStore(Self.notes, fill: Self.fill(9))
        var version = Self.notes
        version["Note"].attributes[1].isOptional = false
        try store.close()
        let before = try store.bytes
        let error = #expect(throws: NSError.self) { try store.migrate(to: version) }
        #expect(
            error?.code == NSMigrationError && error?.userInfo["entity"] as? String == "Note" && error?.userInfo["property"] as? String == "number")
        #expect(error?.userInfo["reason"] as? String == "Validation error missing attribute values on mandatory destination attribute")
        #expect(try store.bytes == before)
        #expect(try store.open(Self.notes).all("Note").count == 9)
    }

    @Test
    func `Integers change their width if they fit`() throws {
        let store = try VersionedStore(Self.notes, fill: Self.fill(900))
        var wide = Self.notes
        wide["Note"].attributes[1].type = .integer64AttributeType
        wide["Note"].indexes = [("byNumber", ["number"], nil)]
        let context = try store.migrated(to: wide)
        store.store?.indexing.wait()
        let note = try context.all("Note")[5]
        #expect(note.value(forKey: "number") as? Int == 5)
        note.setValue(70000, forKey: "number")
        try context.save()
        let error = #expect(throws: NSError.self) { try store.migrated(to: Self.notes) }
        #expect(error?.code == NSMigrationError && (error?.userInfo["reason"] as? String)?.contains("70000") == true)
        let again = try store.open(wide)
        try again.all("Note")[5].setValue(5, forKey: "number")
        try again.save()
        #expect(try store.migrated(to: Self.notes).all("Note")[5].value(forKey: "number") as? Int == 5)
        try store.close()
        #expect(try store.problems == [])
    }

    @Test
    func `Data moves out of the rows and back`() throws {
        let inside = ModelVersion(Entity(name: "Note", attributes: [Attribute(name: "data", type: .binaryDataAttributeType)]))
        var outside = inside
        outside["Note"].attributes[0].isExternal = true
        let values = [Data([1, 2]), Data(repeating: 7, count: 200_000)]
        let store = try VersionedStore(inside) { context in
            for value in values { NSEntityDescription.insertNewObject(forEntityName: "Note", into: context).setValue(value, forKey: "data") }
        }
        for version in [outside, inside] {
            let context = try store.migrated(to: version)
            #expect(try context.all("Note").map { $0.value(forKey: "data") as? Data } == values)
        }
        try store.close()
        #expect(try store.problems == [])
    }

    @Test
    func `A removed entity takes its objects with it and is forgotten`() throws {
        let version = ModelVersion(
            Entity(name: "Shelf", relationships: [
                Relationship(name: "things", destination: "Thing", inverse: "shelf"),
                Relationship(name: "best", destination: "Thing", isToMany: false),
                Relationship(name: "all", destination: "Thing", inverse: "shelves"),
            ]),
            Entity(name: "Thing", attributes: [Attribute(name: "name")], relationships: [
                Relationship(name: "shelf", destination: "Shelf", inverse: "things", isToMany: false),
                Relationship(name: "shelves", destination: "Shelf", inverse: "all"),
            ]),
            Entity(name: "Book", parent: "Thing"), Entity(name: "Toy", parent: "Thing"))
        let store = try VersionedStore(version) { context in
            let shelf = NSEntityDescription.insertNewObject(forEntityName: "Shelf", into: context)
            let made = ["Thing", "Book", "Toy"].map { NSEntityDescription.insertNewObject(forEntityName: $0, into: context) }
            shelf.setValue(Set(made), forKey: "things")
            shelf.setValue(Set(made), forKey: "all")
            shelf.setValue(made[2], forKey: "best")
        }
        var without = version
        without.entities.removeLast()
        let context = try store.migrated(to: without)
        let shelf = try #require(try context.all("Shelf").first)
        #expect((shelf.value(forKey: "things") as? Set<NSManagedObject>)?.compactMap(\.entity.name).sorted() == ["Book", "Thing"])
        #expect((shelf.value(forKey: "all") as? Set<NSManagedObject>)?.compactMap(\.entity.name).sorted() == ["Book", "Thing"])
        #expect(shelf.value(forKey: "best") == nil)
        try store.close()
        #expect(try store.problems == [])
    }

    @Test
    func `A new uniqueness constraint is checked against every object`() throws {
        let store = try VersionedStore(Self.notes) { context in
            for text in ["a", "b", nil, nil, "a"] {
                NSEntityDescription.insertNewObject(forEntityName: "Note", into: context).setValue(text, forKey: "text")
            }
        }
        var version = Self.notes
        version["Note"].unique = [["text"]]
        let error = #expect(throws: NSError.self) { try store.migrated(to: version) }
        #expect(error?.code == NSMigrationConstraintViolationError && error?.localizedDescription.contains("rows 1 and 5") == true)
        let context = try store.open(Self.notes)
        try context.all("Note")[4].setValue("c", forKey: "text")
        try context.save()
        let unique = try store.migrated(to: version)
        NSEntityDescription.insertNewObject(forEntityName: "Note", into: unique).setValue("c", forKey: "text")
        #expect(throws: NSError.self) { try unique.save() }
    }

    @Test
    func `A default that fills several rows is not unique`() throws {
        let store = try VersionedStore(Self.notes, fill: Self.fill(2))
        var version = Self.notes
        version["Note"].attributes.append(Attribute(name: "code", isOptional: false, initial: "x"))
        version["Note"].unique = [["code"]]
        #expect(throws: NSError.self) { try store.migrated(to: version) }
    }

    /// Row by row or entry by entry it would take seconds for a million of them.
    @Test
    func `An index over a renamed attribute stays`() throws {
        var version = ModelVersion(
            Entity(
                name: "Note", attributes: [Attribute(name: "text"), Attribute(name: "kind")],
                relationships: [
                    Relationship(name: "first", destination: "Folder", isToMany: false),
                    Relationship(name: "last", destination: "Folder", isToMany: false)],
                unique: [["text", "kind"]], indexes: [("byText", ["text"], nil)]),
            Entity(name: "Folder"))
        let store = try VersionedStore(version) { context in
            let folders = [context.make("Folder"), context.make("Folder")]
            for number in 0..<2000 {
                context.make("Note", ["text": "note \(number)", "kind": "k", "first": folders[0], "last": number % 100 == 0 ? folders[1] : nil])
            }
        }
        let before = store.store?.log?.snapshot().catalog.indexes.map(\.id)
        version["Note"] = Entity(
            name: "Note", attributes: [Attribute(name: "kind", was: "text"), Attribute(name: "sort", was: "kind"), Attribute(name: "added")],
            relationships: [
                Relationship(name: "first", was: "last", destination: "Folder", isToMany: false),
                Relationship(name: "last", was: "first", destination: "Folder", isToMany: false),
            ], unique: [["kind", "sort"]], indexes: [("byKind", ["kind"], nil)])
        let context = try store.migrated(to: version)
        store.store?.indexing.wait()
        #expect(store.store?.log?.snapshot().catalog.indexes.map(\.id) == before, "none was built anew")
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        let folder = try context.all("Folder")[1]
        let ways: [(NSPredicate, Int, String)] = [
            (NSPredicate(format: "kind == 'note 7'"), 1, "index"), (NSPredicate(format: "first == %@", folder), 20, "reference:first"),
            (NSPredicate(format: "last == %@", folder), 0, "reference:last"),
        ]
        for (predicate, count, index) in ways {
            request.predicate = predicate
            #expect(try context.fetch(request).count == count && context.lastQueryDescription.contains(index), "\(context.lastQueryDescription)")
        }
        context.make("Note", ["kind": "note 3", "sort": "k"])
        #expect(throws: NSError.self) { try context.save() }
        try store.close()
        #expect(try store.problems == [])
    }

    @Test
    func `A required relationship whose object is removed leaves the store as it is`() throws {
        let version = ModelVersion(
            Entity(name: "Shelf", relationships: [Relationship(name: "best", destination: "Thing", isToMany: false, isOptional: false)]),
            Entity(name: "Thing"), Entity(name: "Toy", parent: "Thing"))
        let store = try VersionedStore(version) { context in context.make("Shelf", ["best": context.make("Toy")]) }
        var without = version
        without.entities.removeLast()
        let error = #expect(throws: NSError.self) { try store.migrated(to: without) }
        #expect(error?.code == NSMigrationError && error?.userInfo["property"] as? String == "best")
        let shelf = try #require(try store.open(version).all("Shelf").first)
        shelf.setValue(NSEntityDescription.insertNewObject(forEntityName: "Thing", into: store.context), forKey: "best")
        try store.context.save()
        #expect(try store.migrated(to: without).all("Shelf").map { ($0.value(forKey: "best") as? NSManagedObject)?.entity.name } == ["Thing"])
    }

    @Test
    func `Derived attributes are computed for every object`() throws {
        let version = ModelVersion(
            Entity(
                name: "Group", attributes: [Attribute(name: "title")],
                relationships: [Relationship(name: "members", destination: "Member", inverse: "group")]),
            Entity(
                name: "Member", attributes: [Attribute(name: "amount", type: .integer64AttributeType)],
                relationships: [Relationship(name: "group", destination: "Group", inverse: "members", isToMany: false)]))
        let store = try VersionedStore(version) { context in
            for size in 0..<4 {
                let group = NSEntityDescription.insertNewObject(forEntityName: "Group", into: context)
                group.setValue("Group \(size)", forKey: "title")
                for _ in 0..<size {
                    let member = NSEntityDescription.insertNewObject(forEntityName: "Member", into: context)
                    member.setValue(group, forKey: "group")
                    member.setValue(size, forKey: "amount")
                }
            }
        }
        var derived = version
        derived["Group"].attributes += [
            Attribute(name: "low", derivation: "lowercase:(title)"),
            Attribute(name: "count", type: .integer64AttributeType, derivation: "members.@count"),
            Attribute(name: "total", type: .integer64AttributeType, derivation: "members.@sum.amount"),
        ]
        derived["Member"].attributes.append(Attribute(name: "of", derivation: "group.title"))
        let context = try store.migrated(to: derived)
        let groups = try context.all("Group")
        #expect(groups.map { $0.value(forKey: "low") as? String } == ["group 0", "group 1", "group 2", "group 3"])
        #expect(groups.map { $0.value(forKey: "count") as? Int } == [0, 1, 2, 3])
        #expect(groups.map { $0.value(forKey: "total") as? Int } == [0, 1, 4, 9])
        #expect(Set(try context.all("Member").map { $0.value(forKey: "of") as? String }) == ["Group 1", "Group 2", "Group 3"])
        // Derived attributes follow a change of their sources.
        var removed = derived
        removed.entities.append(Entity(name: "Other"))
        removed["Member"].attributes[0] = Attribute(name: "amount", type: .integer64AttributeType, isOptional: false, initial: 10)
        let again = try store.migrated(to: removed)
        #expect(try again.all("Group").map { $0.value(forKey: "total") as? Int } == [0, 1, 4, 9])
    }

    @Test
    func `A derived attribute replaces one of another type`() throws {
        let version = ModelVersion(
            Entity(name: "Group", attributes: [Attribute(name: "size")], relationships: [Relationship(name: "members", destination: "Group")]))
        let store = try VersionedStore(version) { context in
            let groups = (0..<3).map { number in
                let group = NSEntityDescription.insertNewObject(forEntityName: "Group", into: context)
                group.setValue(String(repeating: "large ", count: number * 20), forKey: "size")
                return group
            }
            groups[1].setValue(Set(groups), forKey: "members")
        }
        var derived = version
        derived["Group"].attributes = [Attribute(name: "size", type: .integer16AttributeType, derivation: "members.@count")]
        #expect(try store.migrated(to: derived).all("Group").map { $0.value(forKey: "size") as? Int } == [0, 3, 0])
        try store.close()
        #expect(try store.problems == [])
    }

    @Test
    func `A coordinator with the store open sees that the version has changed`() throws {
        let store = try VersionedStore(Self.notes, fill: Self.fill(3))
        var version = Self.notes
        version["Note"].attributes.append(Attribute(name: "added"))
        let context = store.context
        #expect(try store.migrate(to: version))
        store.store?.followOthers()
        context.reset()
        let error = #expect(throws: NSError.self) { try context.all("Note") }
        #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
        _ = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
        #expect(throws: NSError.self) { try context.save() }
        #expect(try store.open(version).all("Note").count == 3)
    }

    @Test
    func `A store that already has the version is not changed`() throws {
        let store = try VersionedStore(Self.notes, fill: Self.fill(3))
        var version = Self.notes
        version["Note"].attributes.append(Attribute(name: "added"))
        let model = version.model(), comparison = try ModelComparison(from: StoredModel.read(at: store.url), to: model)
        try store.close()
        for _ in 0..<2 {
            #expect(try RecordLogStore.migrateInPlace(at: store.url, options: nil, configuration: nil, to: model, comparison, .isTold))
        }
        #expect(try store.open(version).all("Note").count == 3)
    }

    /// A power failure leaves nothing or all of the migration's one commit.
    @Test
    func `An interrupted migration leaves the version before`() throws {
        let store = try VersionedStore(Self.notes, fill: Self.fill(40))
        var version = Self.notes
        version["Note"].attributes[1] = Attribute(name: "amount", was: "number", type: .integer32AttributeType, isOptional: false, initial: 3)
        version["Note"].attributes.append(Attribute(name: "low", derivation: "lowercase:(text)"))
        try store.close()
        let before = try Data(contentsOf: store.url), begin = try store.bytes
        #expect(try store.migrate(to: version))
        let after = try Data(contentsOf: store.url), end = try store.bytes
        // The header's two superblocks, which the first half of a commit has not reached.
        let header = 8192
        for cut in stride(from: begin, to: end, by: 97) {
            var bytes = before.prefix(header) + after[header..<Int(cut)]
            bytes += Data(count: max(0, before.count - bytes.count))
            try bytes.write(to: store.url)
            let context = try store.open(Self.notes)
            #expect(try context.all("Note").map { $0.value(forKey: "number") as? Int } == (0..<40).map { $0 % 3 == 0 ? nil : $0 })
            try store.close()
        }
        try after.write(to: store.url)
        // The next opening computes derived attributes, which may be later than the commit.
        let context = try store.open(version)
        #expect(try context.all("Note").map { $0.value(forKey: "amount") as? Int } == (0..<40).map { $0 % 3 == 0 ? 3 : $0 })
        #expect(try context.all("Note").map { $0.value(forKey: "low") as? String } == (0..<40).map { "note \($0)" })
        try store.close()
        #expect(try store.problems == [])
    }
}
