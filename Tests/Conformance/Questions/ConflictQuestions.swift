import Foundation
import Testing

#if CONFORMANCE_COREDATA
    import CoreData
#else
    import Heartwood
#endif

@MainActor struct ConflictQuestions {
    /// Two contexts that have each changed one book: the first has saved, the second has not.
    private struct Conflict {
        let stack: Stack
        let mine: NSManagedObject
        let theirs: NSManagedObject
        var context: NSManagedObjectContext { mine.managedObjectContext! }
    }

    /// The other context sets the title and the rating, this one the title and the pages.
    private func conflict(_ kind: StoreKind, _ policy: NSMergePolicy? = nil) throws -> Conflict {
        let stack = try Stack(kind)
        let theirs = try stack.saved("Book", ["title": "old", "pages": 1, "rating": 1.0])
        let mine = try stack.only("Book", in: stack.sibling(policy))
        mine.setValue("mine", forKey: "title")
        mine.setValue(2, forKey: "pages")
        theirs.setValue("theirs", forKey: "title")
        theirs.setValue(2.0, forKey: "rating")
        try stack.context.save()
        return Conflict(stack: stack, mine: mine, theirs: theirs)
    }

    private func stored(_ conflict: Conflict) throws -> String {
        let book = try conflict.stack.only("Book", in: conflict.stack.sibling())
        return "\(book.text("title") ?? "-") \(book.int("pages") ?? -1) \(book.value(forKey: "rating") as? Double ?? -1)"
    }

    @Test(.header("NSManagedObjectContext", "mergePolicy"))
    func `A context's merge policy is the error policy`() throws {
        #expect((try Stack().context.mergePolicy as? NSMergePolicy)?.mergeType == .errorMergePolicyType)
    }

    @Test(
        .header("NSMergePolicy", "NSMergePolicyType"),
        arguments: [
            (0, NSMergePolicyType.errorMergePolicyType), (1, .mergeByPropertyStoreTrumpMergePolicyType),
            (2, .mergeByPropertyObjectTrumpMergePolicyType), (3, .overwriteMergePolicyType), (4, .rollbackMergePolicyType),
        ])
    func `Each policy has its type`(number: Int, type: NSMergePolicyType) {
        let policies: [NSMergePolicy] = [.error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback]
        #expect(policies[number].mergeType == type && Int(type.rawValue) == number)
    }

    @Test(.header("CoreDataErrors", "NSManagedObjectMergeError"), arguments: StoreKind.allCases)
    func `The error policy fails the save with 133020`(kind: StoreKind) throws {
        let conflict = try conflict(kind), error = try #require(failure { try conflict.context.save() })
        #expect(error.domain == NSCocoaErrorDomain && error.code == NSManagedObjectMergeError)
        #expect(conflict.mine.hasChanges)
        #expect(try stored(conflict) == "theirs 1 2.0")
    }

    @Test(.guide("Change Management", "Choosing a Merge Policy"), arguments: StoreKind.allCases)
    func `A merge error lists its conflicts under "conflictList"`(kind: StoreKind) throws {
        let conflict = try conflict(kind), error = try #require(failure { try conflict.context.save() })
        let list = try #require(error.userInfo["conflictList"] as? [NSMergeConflict])
        #expect(list.count == 1 && list.first?.sourceObject === conflict.mine)
    }

    @Test(.header("NSMergePolicy", "NSMergeConflict"), arguments: StoreKind.allCases)
    func `A conflict has the snapshots of the read, the stored and the new values`(kind: StoreKind) throws {
        let conflict = try conflict(kind), error = try #require(failure { try conflict.context.save() })
        let one = try #require((error.userInfo["conflictList"] as? [NSMergeConflict])?.first)
        #expect(one.objectSnapshot?["title"] as? String == "mine" || one.objectSnapshot?["title"] as? String == "old")
        #expect((one.persistedSnapshot ?? one.cachedSnapshot)?["title"] as? String == "theirs")
        #expect(one.newVersionNumber > one.oldVersionNumber)
    }

    @Test(.header("NSMergePolicy", "NSMergeConflict: snapshot dictionaries"), arguments: StoreKind.allCases)
    func `Snapshots have no to-many relationships`(kind: StoreKind) throws {
        let conflict = try conflict(kind), error = try #require(failure { try conflict.context.save() })
        let one = try #require((error.userInfo["conflictList"] as? [NSMergeConflict])?.first)
        let snapshot = one.persistedSnapshot ?? one.cachedSnapshot
        #expect(snapshot?["tags"] == nil && snapshot?["chapters"] == nil && snapshot?["pages"] as? Int == 1)
    }

    @Test(.header("NSMergePolicy", "NSMergeByPropertyStoreTrumpMergePolicy"), arguments: StoreKind.allCases)
    func `If the store trumps, its changes win and others stay`(kind: StoreKind) throws {
        let conflict = try conflict(kind, .mergeByPropertyStoreTrump)
        try conflict.context.save()
        #expect(try stored(conflict) == "theirs 2 2.0")
        #expect(conflict.mine.text("title") == "theirs")
    }

    @Test(.header("NSMergePolicy", "NSMergeByPropertyObjectTrumpMergePolicy"), arguments: StoreKind.allCases)
    func `If the object trumps, its changes win and others stay`(kind: StoreKind) throws {
        let conflict = try conflict(kind, .mergeByPropertyObjectTrump)
        try conflict.context.save()
        #expect(try stored(conflict) == "mine 2 2.0")
        #expect(conflict.mine.value(forKey: "rating") as? Double == 2.0)
    }

    @Test(.header("NSMergePolicy", "NSOverwriteMergePolicy"), arguments: StoreKind.allCases)
    func `The overwriting policy writes the whole object`(kind: StoreKind) throws {
        let conflict = try conflict(kind, .overwrite)
        try conflict.context.save()
        #expect(try stored(conflict) == "mine 2 1.0")
    }

    @Test(.header("NSMergePolicy", "NSRollbackMergePolicy"), arguments: StoreKind.allCases)
    func `The policy of rolling back takes the store's object`(kind: StoreKind) throws {
        let conflict = try conflict(kind, .rollback)
        try conflict.context.save()
        #expect(try stored(conflict) == "theirs 1 2.0")
        #expect(conflict.mine.text("title") == "theirs" && !conflict.mine.hasChanges)
    }

    @Test(.guide("Change Management", "Conflict Detection and Optimistic Locking"), arguments: StoreKind.allCases)
    func `Changes of one object's different attributes conflict all the same`(kind: StoreKind) throws {
        let stack = try Stack(kind), theirs = try stack.saved("Book"), other = stack.sibling(), mine = try stack.only("Book", in: other)
        mine.setValue(2, forKey: "pages")
        theirs.setValue("x", forKey: "title")
        try stack.context.save()
        #expect(stack.codes(other) == [NSManagedObjectMergeError])
    }

    @Test(.guide("Change Management", "Conflict Detection and Optimistic Locking"), arguments: StoreKind.allCases)
    func `Different objects do not conflict`(kind: StoreKind) throws {
        let stack = try Stack(kind), one = try stack.saved("Book", ["title": "a"])
        try stack.saved("Book", ["title": "b"])
        let other = stack.sibling(), mine = try #require(try stack.fetch("Book", "title == 'b'", in: other).first)
        mine.setValue(1, forKey: "pages")
        one.setValue(2, forKey: "pages")
        try stack.context.save()
        #expect(stack.codes(other) == [])
    }

    @Test(.header("NSMergePolicy", "NSMergeConflict: a newVersion of 0 means deleted"), arguments: StoreKind.allCases)
    func `Changing what another context has deleted is a conflict`(kind: StoreKind) throws {
        let stack = try Stack(kind), theirs = try stack.saved("Book"), other = stack.sibling(), mine = try stack.only("Book", in: other)
        mine.setValue(2, forKey: "pages")
        stack.context.delete(theirs)
        try stack.context.save()
        let error = try #require(failure { try other.save() })
        let one = try #require((error.userInfo["conflictList"] as? [NSMergeConflict])?.first)
        #expect(error.code == NSManagedObjectMergeError && one.newVersionNumber == 0)
    }

    @Test(.guide("Change Management", "Conflict Detection and Optimistic Locking"), arguments: StoreKind.allCases)
    func `Deleting what another context has changed is a conflict`(kind: StoreKind) throws {
        let stack = try Stack(kind), theirs = try stack.saved("Book"), other = stack.sibling(), mine = try stack.only("Book", in: other)
        _ = mine.text("title")
        other.delete(mine)
        theirs.setValue(2, forKey: "pages")
        try stack.context.save()
        #expect(stack.codes(other) == [NSManagedObjectMergeError])
    }

    @Test(.header("NSManagedObjectContext", "detectConflictsForObject:"), arguments: StoreKind.allCases)
    func `detectConflicts(for:) makes a conflict of an object that is not changed here`(kind: StoreKind) throws {
        let stack = try Stack(kind), theirs = try stack.saved("Book"), other = stack.sibling(), mine = try stack.only("Book", in: other)
        _ = mine.text("title")
        other.detectConflicts(for: mine)
        stack.new("Author", in: other)
        theirs.setValue(2, forKey: "pages")
        try stack.context.save()
        #expect(stack.codes(other) == [NSManagedObjectMergeError])
    }

    @Test(.reference("nsmanagedobjectcontext/refresh(_:mergechanges:)"), arguments: StoreKind.allCases)
    func `An object that is refreshed before the save does not conflict`(kind: StoreKind) throws {
        let conflict = try conflict(kind)
        conflict.context.refresh(conflict.mine, mergeChanges: true)
        #expect(conflict.stack.codes(conflict.context) == [])
        #expect(try stored(conflict) == "mine 2 2.0")
    }

    @Test(.header("NSManagedObjectContext", "mergeChangesFromContextDidSaveNotification:"), arguments: StoreKind.allCases)
    func `Merging a save's notification updates objects`(kind: StoreKind) throws {
        let stack = try Stack(kind), theirs = try stack.saved("Book", ["title": "old"]), other = stack.sibling()
        let mine = try stack.only("Book", in: other), heard = Heard(.NSManagedObjectContextDidSave, of: stack.context)
        _ = mine.text("title")
        theirs.setValue("new", forKey: "title")
        try stack.context.save()
        #expect(mine.text("title") == "old")
        other.mergeChanges(fromContextDidSave: try #require(heard.last))
        #expect(mine.text("title") == "new" && !mine.hasChanges)
    }

    @Test(.header("NSManagedObjectContext", "mergeChangesFromContextDidSaveNotification:"), arguments: StoreKind.allCases)
    func `Merging keeps what the context has changed itself`(kind: StoreKind) throws {
        let stack = try Stack(kind), theirs = try stack.saved("Book"), other = stack.sibling(), mine = try stack.only("Book", in: other)
        let heard = Heard(.NSManagedObjectContextDidSave, of: stack.context)
        mine.setValue("mine", forKey: "title")
        theirs.setValue("theirs", forKey: "title")
        theirs.setValue(5, forKey: "pages")
        try stack.context.save()
        other.mergeChanges(fromContextDidSave: try #require(heard.last))
        #expect(mine.text("title") == "mine" && mine.int("pages") == 5)
        #expect(stack.codes(other) == [])
    }

    @Test(.header("NSManagedObjectContext", "mergeChangesFromContextDidSaveNotification:"), arguments: StoreKind.allCases)
    func `Merging a deletion deletes the object`(kind: StoreKind) throws {
        let stack = try Stack(kind), theirs = try stack.saved("Book"), other = stack.sibling(), mine = try stack.only("Book", in: other)
        let heard = Heard(.NSManagedObjectContextDidSave, of: stack.context)
        _ = mine.text("title")
        stack.context.delete(theirs)
        try stack.context.save()
        other.mergeChanges(fromContextDidSave: try #require(heard.last))
        #expect(mine.isDeleted)
        #expect(other.deletedObjects.contains(mine))
    }

    @Test(.header("NSManagedObjectContext", "automaticallyMergesChangesFromParent"), arguments: StoreKind.allCases)
    func `A context that merges by itself follows saves of others`(kind: StoreKind) async throws {
        let stack = try Stack(kind), book = try stack.saved("Book", ["title": "old"])
        #expect(!stack.context.automaticallyMergesChangesFromParent)
        stack.context.automaticallyMergesChangesFromParent = true
        let other = stack.sibling()
        try stack.only("Book", in: other).setValue("new", forKey: "title")
        try other.save()
        await stack.context.perform {}
        #expect(book.text("title") == "new")
    }

    @Test(.header("NSManagedObjectContext", "mergeChangesFromRemoteContextSave:intoContexts:"), arguments: [false, true])
    func `mergeChanges(fromRemoteContextSave:into:) takes IDs and URIs`(byURI: Bool) throws {
        let stack = try Stack(.database), theirs = try stack.saved("Book", ["title": "old"]), other = stack.sibling()
        let mine = try stack.only("Book", in: other)
        _ = mine.text("title")
        theirs.setValue("new", forKey: "title")
        try stack.context.save()
        let name: Any = byURI ? theirs.objectID.uriRepresentation() : theirs.objectID
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: [name]], into: [other])
        #expect(mine.text("title") == "new")
    }

    @Test(.source("Measured by a public test suite for Apple's platforms (parity B26)"), arguments: StoreKind.allCases)
    func `A change of an object's to-many members elsewhere makes a conflict`(kind: StoreKind) throws {
        let stack = try Stack(kind), author = try stack.saved("Author"), other = stack.sibling(), mine = try stack.only("Author", in: other)
        mine.setValue("mine", forKey: "name")
        author.mutableSetValue(forKey: "books").add(stack.new("Book"))
        try stack.context.save()
        let codes = stack.codes(other)
        knownDifference("B26: none (docs/decisions/0030-to-many-change-is-no-conflict.md)") { #expect(codes == [NSManagedObjectMergeError]) }
    }

    @Test(.header("NSMergePolicy", "resolveConflicts:error:"), arguments: StoreKind.allCases)
    func `A subclass of a policy decides a conflict`(kind: StoreKind) throws {
        let policy = Shouting(merge: .mergeByPropertyObjectTrumpMergePolicyType), conflict = try conflict(kind, policy)
        try conflict.context.save()
        #expect(policy.seen == 1)
        #expect(try stored(conflict) == "MINE 2 2.0")
    }
}

/// A policy that writes titles in upper case.
final class Shouting: NSMergePolicy {
    private(set) var seen = 0

    override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        try super.resolve(optimisticLockingConflicts: list)
        for conflict in list {
            seen += 1
            conflict.sourceObject.setValue(conflict.sourceObject.text("title")?.uppercased(), forKey: "title")
        }
    }
}
