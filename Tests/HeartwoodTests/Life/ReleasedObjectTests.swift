import Foundation
import Testing

@testable import Heartwood

/// An object that only a context holds is never older than the fetch or look-up that returns it. It behaves as if it had been released with the program's
/// last reference.
/// An object that the program holds keeps what it has read.
@Suite struct ReleasedObjectTests {
    /// The ways by which a program comes to a counter again.
    enum Way: String, CaseIterable {
        case all, predicate, unique, sorted, batches, prefetched, existing, byID
        case one, many, list, pairs, first
        case heldOne, heldMany, heldList, heldPairs

        /// The relationship of the owner that leads to the counter.
        var relationship: String? {
            switch self {
            case .one, .heldOne: "one"
            case .many, .first, .heldMany, .prefetched: "many"
            case .list, .heldList: "list"
            case .pairs, .heldPairs: "pairs"
            default: nil
            }
        }

        /// Whether the program has held the owner since before the change, without following its relationship.
        var holdsOwner: Bool { rawValue.hasPrefix("held") }
    }

    /// The ways by which others change a counter.
    enum Change: CaseIterable {
        case save, child, batch, coordinator, batchOfCoordinator, merge

        static func cases(of kind: StoreKind) -> [Change] {
            switch kind {
            case .recordLog: allCases
            case .inMemory: [.save, .child, .batch, .merge]
            default: [.save, .child, .merge]
            }
        }
    }

    enum Place: CaseIterable { case root, child, grandchild }

    /// One counter with an owner that has it in each of its relationships.
    final class Case {
        let stack: TestStack
        let root: NSManagedObjectContext
        let context: NSManagedObjectContext
        let id: NSManagedObjectID, ownerID: NSManagedObjectID
        var parents: [NSManagedObjectContext] = []
        var held: NSManagedObject?
        var owner: NSManagedObject?
        /// Other coordinators over the file, which goes with the first one that is released.
        private var others: [TestStack] = []

        init(_ kind: StoreKind, _ place: Place = .root) throws {
            stack = try TestStack(kind, model: Self.model())
            let counter = stack.insert("Counter", ["n": 1, "name": "a"]), owner = stack.insert("Owner", ["title": "o", "one": counter])
            owner.mutableSetValue(forKey: "many").add(counter)
            owner.mutableSetValue(forKey: "pairs").add(counter)
            owner.mutableOrderedSetValue(forKey: "list").add(counter)
            try stack.context.save()
            (id, ownerID) = (counter.objectID, owner.objectID)
            root = stack.anew()
            var context = root
            if place != .root {
                parents.append(context)
                context = context.child()
            }
            if place == .grandchild {
                parents.insert(context, at: 0)
                context = context.child()
            }
            self.context = context
        }

        static func model() -> NSManagedObjectModel {
            let counter = NSEntityDescription(), owner = NSEntityDescription()
            counter.name = "Counter"
            owner.name = "Owner"
            func pair(_ name: String, toMany: Bool, ordered: Bool = false, back: Bool) -> (NSRelationshipDescription, NSRelationshipDescription) {
                let there = TestStack.relationship(name, to: counter, toMany: toMany, ordered: ordered)
                let back = TestStack.relationship("\(name)Of", to: owner, toMany: back)
                TestStack.connect(there, back)
                return (there, back)
            }
            let pairs = [
                pair("one", toMany: false, back: true), pair("many", toMany: true, back: false),
                pair("list", toMany: true, ordered: true, back: false), pair("pairs", toMany: true, back: true),
            ]
            let n = TestStack.attribute("n", .integer64AttributeType, default: 0), name = TestStack.attribute("name", .stringAttributeType)
            counter.properties = [n, name] + pairs.map(\.1)
            counter.uniquenessConstraints = [["name"]]
            counter.indexes = [TestStack.index("byN", [n])]
            owner.properties = [TestStack.attribute("title", .stringAttributeType)] + pairs.map(\.0)
            let model = NSManagedObjectModel()
            model.entities = [counter, owner]
            return model
        }

        /// Reads the counter, and holds it or lets it go.
        func read(holds: Bool, ownerToo: Bool) throws {
            let counter = try stack.fetch("Counter", in: context)[0], owner = try stack.fetch("Owner", in: context)[0]
            #expect(counter.value(forKey: "n") as? Int == 1 && owner.text("title") == "o")
            if holds { held = counter }
            if ownerToo { self.owner = owner }
        }

        /// Lets go of the owner, and holds it again without following its relationship.
        func holdOwner(for way: Way) throws {
            owner = nil
            if way.holdsOwner { owner = try stack.fetch("Owner", in: context)[0] }
        }

        func found(_ way: Way) throws -> NSManagedObject {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Counter")
            switch way {
            case .all: break
            case .predicate: request.predicate = NSPredicate(format: "n > 0")
            case .unique: request.predicate = NSPredicate(format: "name == 'a'")
            case .sorted:
                request.sortDescriptors = [NSSortDescriptor(key: "n", ascending: false)]
                request.fetchLimit = 1
            case .batches:
                request.fetchBatchSize = 1
                request.returnsObjectsAsFaults = false
            case .existing: return try context.existingObject(with: id)
            case .byID: return context.object(with: id)
            case .prefetched:
                let owners = NSFetchRequest<NSManagedObject>(entityName: "Owner")
                owners.relationshipKeyPathsForPrefetching = ["many"]
                return try #require(try context.fetch(owners)[0].many("many").first)
            case .first:
                return try #require(try stack.fetch("Owner", in: context)[0].mutableSetValue(forKey: "many").anyObject() as? NSManagedObject)
            default:
                let owner = try self.owner ?? stack.fetch("Owner", in: context)[0], name = try #require(way.relationship)
                switch name {
                case "one": return try #require(owner.one(name))
                case "list": return try #require(owner.mutableOrderedSetValue(forKey: name).object(at: 0) as? NSManagedObject)
                default: return try #require(owner.many(name).first)
                }
            }
            return try context.fetch(request)[0]
        }

        func value(_ way: Way) throws -> Int? {
            let counter = try found(way)
            #expect(held == nil || counter === held)
            return counter.value(forKey: "n") as? Int
        }

        func change(_ change: Change) throws {
            let other = stack.newContext()
            let heard = Heard([.NSManagedObjectContextDidSave], of: other)
            switch change {
            case .save, .merge:
                other.object(with: id).setValue(5, forKey: "n")
                try other.save()
                if change == .merge { context.mergeChanges(fromContextDidSave: try #require(heard.take())) }
            case .child:
                let child = other.child()
                child.object(with: id).setValue(5, forKey: "n")
                try child.save()
                try other.save()
            case .batch: try Self.update(other)
            case .coordinator, .batchOfCoordinator:
                let second = try TestStack(stack.kind, model: Self.model(), at: stack.url)
                others.append(second)
                if change == .batchOfCoordinator { return try Self.update(second.context) }
                try second.fetch("Counter")[0].setValue(5, forKey: "n")
                try second.context.save()
            }
        }

        private static func update(_ context: NSManagedObjectContext) throws {
            let request = NSBatchUpdateRequest(entityName: "Counter")
            request.propertiesToUpdate = ["n": 5]
            try context.execute(request)
        }

        /// Adds ten, and saves up to the store.
        func add(_ way: Way) throws {
            let counter = try found(way)
            counter.setValue((counter.value(forKey: "n") as? Int ?? 0) + 10, forKey: "n")
            try context.save()
            for parent in parents { try parent.save() }
        }

        var stored: Int? { try? withExtendedLifetime(stack.newContext()) { try stack.fetch("Counter", in: $0)[0].value(forKey: "n") as? Int } }
    }

    static var policies: [NSMergePolicy] { [.error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback] }

    @Test(arguments: StoreKind.allCases)
    func `Every way to an object that nobody holds gives its newest row, and a save from there meets no conflict`(kind: StoreKind) throws {
        for place in Place.allCases {
            for way in Way.allCases {
                for change in Change.cases(of: kind) {
                    let its = try Case(kind, place)
                    try its.read(holds: false, ownerToo: way.holdsOwner)
                    try its.change(change)
                    // Faults and look-ups by ID read the newest commit that the process knows.
                    if [.coordinator, .batchOfCoordinator].contains(change), way == .byID || way.holdsOwner { its.stack.persistentStore.followOthers() }
                    #expect(try its.value(way) == 5, "\(place) \(way) \(change)")
                    try its.add(way)
                    #expect(its.stored == 15, "\(place) \(way) \(change)")
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `An object that the program holds keeps what it has read, and its save meets the conflict`(kind: StoreKind) throws {
        for way in Way.allCases {
            for change in Change.cases(of: kind) {
                for policy in Self.policies {
                    let its = try Case(kind)
                    its.context.mergePolicy = policy
                    try its.read(holds: true, ownerToo: way.holdsOwner)
                    try its.change(change)
                    let shown = change == .merge ? 5 : 1
                    #expect(try its.value(way) == shown, "\(way) \(change)")
                    if change != .merge, policy.mergeType == .errorMergePolicyType {
                        let failure = #expect(throws: NSError.self, "\(way) \(change)") { try its.add(way) }
                        #expect(failure?.code == NSManagedObjectMergeError, "\(way) \(change)")
                    } else {
                        try its.add(way)
                    }
                    let winner = switch policy.mergeType {
                    case .errorMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType: 5
                    default: 11
                    }
                    #expect(its.stored == (change == .merge ? 15 : winner), "\(way) \(change) \(policy.mergeType)")
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases, ["one", "many", "list", "pairs"])
    func `What a held object's relationship has led to stays, as on Apple's platforms`(kind: StoreKind, name: String) throws {
        let way = try #require(Way(rawValue: "held" + name.capitalized)), its = try Case(kind)
        its.owner = try its.stack.fetch("Owner", in: its.context)[0]
        #expect(try its.value(way) == 1)
        try its.change(.save)
        #expect(try its.value(way) == 1, "the owner holds it")
        #expect(try its.value(.all) == 5, "a fetch asks for the newest")
        its.owner = nil
        #expect(try its.value(way) == 5)
    }

    @Test(arguments: StoreKind.planning, Way.allCases)
    func `A child sees each change that its parent has not saved`(kind: StoreKind, way: Way) throws {
        let its = try Case(kind, .child)
        try its.read(holds: false, ownerToo: way.holdsOwner)
        let counter = its.root.object(with: its.id)
        for n in 2..<5 {
            counter.setValue(n, forKey: "n")
            #expect(try its.value(way) == n)
            try its.holdOwner(for: way)
        }
        its.root.rollback()
        try its.holdOwner(for: way)
        #expect(try its.value(way) == 1)
    }

    @Test(arguments: Way.allCases, [true, false])
    func `A pinned context gives the rows of its commits, and others once it is moved`(way: Way, holds: Bool) throws {
        let its = try Case(.recordLog)
        try its.context.setQueryGenerationFrom(.current)
        let old = try #require(its.context.queryGenerationToken)
        try its.read(holds: holds, ownerToo: way.holdsOwner)
        try its.change(.save)
        #expect(try its.value(way) == 1)
        try its.context.setQueryGenerationFrom(.current)
        try its.holdOwner(for: way)
        #expect(try its.value(way) == (holds ? 1 : 5))
        try its.context.setQueryGenerationFrom(old)
        // An owner that is let go and found again within one epoch is the same object, and still holds what it has led to (decision 0102).
        try its.holdOwner(for: way)
        #expect(try its.value(way) == 1, "back in time")
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func `Members that others have added or removed are among those of an owner that nobody holds`(kind: StoreKind, holds: Bool) throws {
        for name in ["many", "list", "pairs"] {
            let its = try Case(kind)
            func names(_ owner: NSManagedObject) -> Set<String> {
                Set(owner.objectIDs(forRelationshipNamed: name).compactMap { its.context.object(with: $0).text("name") })
            }
            func owner(_ isFetched: Bool) throws -> NSManagedObject {
                isFetched ? try its.stack.fetch("Owner", in: its.context)[0] : its.context.object(with: its.ownerID)
            }
            func read(_ isFetched: Bool) throws -> Set<String> { names(try owner(isFetched)) }
            if holds { its.owner = try owner(true) }
            #expect(try read(true) == ["a"])
            let other = its.stack.newContext(), theirs = other.object(with: its.ownerID)
            let added = its.stack.insert("Counter", ["name": "b"], into: other)
            added.setValue(name == "pairs" ? NSSet(object: theirs) : theirs, forKey: name + "Of")
            try other.save()
            for isFetched in [true, false] { #expect(try read(isFetched) == (holds ? ["a"] : ["a", "b"]), "\(name)") }
            other.delete(added)
            try other.save()
            for isFetched in [false, true] { #expect(try read(isFetched) == ["a"], "\(name)") }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `Two contexts that take turns count each increment`(kind: StoreKind) throws {
        for policy in Self.policies {
            let its = try Case(kind), contexts = [its.context, its.stack.newContext()]
            for context in contexts { context.mergePolicy = policy }
            for turn in 0..<20 {
                let counter = try its.stack.fetch("Counter", in: contexts[turn % 2])[0]
                counter.setValue((counter.value(forKey: "n") as? Int ?? 0) + 1, forKey: "n")
                try contexts[turn % 2].save()
            }
            #expect(its.stored == 21)
        }
    }

    @Test
    func `Two contexts on queues of their own count each increment, if they try again after a conflict`() async throws {
        let stack = try TestStack(.recordLog, model: Case.model())
        stack.insert("Counter", ["n": 0, "name": "a"])
        try stack.context.save()
        let coordinator = stack.coordinator
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
                    context.persistentStoreCoordinator = coordinator
                    var done = 0
                    while done < 50 {
                        let isSaved = try await context.perform { () throws -> Bool in
                            let counter = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Counter"))[0]
                            counter.setValue((counter.value(forKey: "n") as? Int ?? 0) + 1, forKey: "n")
                            do { try context.save() } catch let error as NSError where error.code == NSManagedObjectMergeError {
                                context.rollback()
                                return false
                            }
                            return true
                        }
                        if isSaved { done += 1 }
                    }
                }
            }
            try await group.waitForAll()
        }
        let counter = try stack.fetch("Counter", in: stack.anew())[0]
        #expect(counter.value(forKey: "n") as? Int == 100)
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func `An asynchronous fetch gives the newest row of what nobody holds`(kind: StoreKind, holds: Bool) throws {
        let its = try Case(kind), context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = its.stack.coordinator
        nonisolated(unsafe) var held: NSManagedObject?
        try context.performAndWait {
            let counter = try its.stack.fetch("Counter", in: context)[0]
            #expect(counter.value(forKey: "n") as? Int == 1)
            if holds { held = counter }
        }
        try its.change(.save)
        let done = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var found: Int?
        let request = NSAsynchronousFetchRequest(fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Counter")) { result in
            found = result.finalResult?.first?.value(forKey: "n") as? Int
            done.signal()
        }
        try context.performAndWait { _ = try context.execute(request) }
        #expect(done.wait(timeout: .now() + 60) == .success)
        #expect(found == (holds ? 1 : 5))
        context.performAndWait {
            #expect((held != nil) == holds)
            held = nil
        }
    }

    @Test(arguments: StoreKind.recordLogs)
    func `What has not changed is neither read again nor made anew`(kind: StoreKind) throws {
        let its = try Case(kind)
        for number in 0..<100 { its.stack.insert("Counter", ["n": number, "name": "\(number)"]) }
        try its.stack.context.save()
        func read() throws -> Set<ObjectIdentifier> {
            Set(try its.stack.fetch("Counter", in: its.context).map { counter in
                #expect(counter.value(forKey: "n") != nil)
                return ObjectIdentifier(counter)
            })
        }
        let objects = try read(), epoch = its.context.making.epoch
        #expect(try its.value(.byID) == 1 && its.value(.one) == 1)
        let before = its.stack.rowReads
        #expect(try its.value(.byID) == 1 && its.value(.existing) == 1)
        #expect(its.stack.rowReads == before)
        // The context's own saves are no news to it.
        for turn in 0..<5 {
            let counter = its.context.object(with: its.id)
            counter.setValue(turn + 10, forKey: "n")
            try its.context.save()
        }
        #expect(its.context.making.epoch == epoch)
        #expect(try read() == objects)
        // Of a hundred objects one has changed.
        try its.change(.save)
        let renewed = try read()
        #expect(renewed.count == objects.count && its.context.making.epoch == epoch + 1)
        #expect(try its.value(.byID) == 5)
        #expect(its.context.identities.checkInvariants())
    }

    @Test(arguments: StoreKind.allCases, Place.allCases)
    func `What was committed before a context was made is no news to it`(kind: StoreKind, place: Place) throws {
        let its = try Case(kind, place), counter = its.context.object(with: its.id), epoch = its.context.making.epoch
        for _ in 0..<3 { #expect(its.context.object(with: its.id) === counter) }
        #expect(its.context.making.epoch == epoch)
    }
}
