import Foundation
import SwiftData
import Testing

@Model final class Parcel {
    @Attribute(.unique, .preserveValueOnDeletion) var number: Int
    @Attribute(.preserveValueOnDeletion) var sent: Date?
    var weight: Int = 1
    var note: String = ""
    @Relationship(deleteRule: .cascade, inverse: \Label.parcel) var labels: [Label] = []

    init(_ number: Int) { self.number = number }
}

@Model final class Label {
    var text: String
    var parcel: Parcel?

    init(_ text: String) { self.text = text }
}

/// What a store tells of its changes.
@Suite struct HistoryQuestions {
    typealias Descriptor = HistoryDescriptor<DefaultHistoryTransaction>

    private func empty(_ kind: StoreKind) throws -> Stack { try Stack(kind, Parcel.self, Label.self) }

    /// "app" inserts parcel 1, "widget" changes its weight, "app" deletes it.
    private func stack(_ kind: StoreKind) throws -> Stack {
        let stack = try empty(kind), context = stack.context
        context.author = "app"
        let parcel = Parcel(1)
        parcel.sent = day(7)
        context.insert(parcel)
        try context.save()
        context.author = "widget"
        parcel.weight = 9
        try context.save()
        context.author = "app"
        context.delete(parcel)
        try context.save()
        return stack
    }

    @Test(.reference("historydescriptor"))
    func `A descriptor chooses all transactions until it is told more`() {
        let descriptor = Descriptor()
        #expect(descriptor.predicate == nil && descriptor.sortBy.isEmpty && descriptor.fetchLimit == 0)
    }

    @Test(.wwdc(2024, 10075, "each save is a transaction"), arguments: StoreKind.allCases)
    func `Each save is one transaction, in the order of the saves`(kind: StoreKind) throws {
        let all = try stack(kind).history()
        #expect(all.map(\.author) == ["app", "widget", "app"])
        #expect(all.map(\.transactionIdentifier) == all.map(\.transactionIdentifier).sorted())
        #expect(all.map(\.timestamp) == all.map(\.timestamp).sorted())
    }

    @Test(.wwdc(2024, 10075, "changes have the type of their model"), arguments: StoreKind.allCases)
    func `Changes are insertions, updates and deletions of a model's class`(kind: StoreKind) throws {
        let changes = try stack(kind).history().flatMap(\.changes)
        let kinds = changes.map { change in
            switch change {
            case .insert(_ as DefaultHistoryInsert<Parcel>): "insert"
            case .update(_ as DefaultHistoryUpdate<Parcel>): "update"
            case .delete(_ as DefaultHistoryDelete<Parcel>): "delete"
            default: "other"
            }
        }
        #expect(kinds == ["insert", "update", "delete"])
        #expect(Set(changes.map(\.changedPersistentIdentifier)).count == 1)
        #expect(changes[0].changedPersistentIdentifier.entityName == "Parcel")
    }

    @Test(.wwdc(2024, 10075, "the changes of a transaction keep their order"), arguments: StoreKind.allCases)
    func `The insertions of one save come in their order`(kind: StoreKind) throws {
        let stack = try empty(kind), context = stack.context
        let parcels = (0..<5).map(Parcel.init)
        for parcel in parcels { context.insert(parcel) }
        try context.save()
        let changes = try context.fetchHistory(Descriptor()).flatMap(\.changes)
        #expect(changes.map(\.changedPersistentIdentifier) == parcels.map(\.persistentModelID))
    }

    @Test(.reference("historyupdate/updatedattributes"), arguments: StoreKind.allCases)
    func `An update names the properties that it has changed`(kind: StoreKind) throws {
        let stack = try empty(kind), context = stack.context, parcel = Parcel(1)
        context.insert(parcel)
        try context.save()
        (parcel.note, parcel.weight) = ("fragile", 3)
        try context.save()
        guard case .update(let update as DefaultHistoryUpdate<Parcel>)? = try context.fetchHistory(Descriptor()).last?.changes.first else {
            Issue.record("There is no update")
            return
        }
        #expect(update.updatedAttributes.count == 2)
        #expect(update.updatedAttributes.contains(\.note) && update.updatedAttributes.contains(\.weight))
        #expect(!update.updatedAttributes.contains(\.number))
    }

    @Test(.wwdc(2024, 10075, "tombstones have the values that are preserved"), arguments: StoreKind.allCases)
    func `A tombstone has the preserved values and no others`(kind: StoreKind) throws {
        guard case .delete(let delete as DefaultHistoryDelete<Parcel>)? = try stack(kind).history().last?.changes.first else {
            Issue.record("There is no deletion")
            return
        }
        #expect(delete.tombstone[\.number] as? Int == 1)
        #expect(delete.tombstone[\.sent] as? Date == day(7))
        #expect(delete.tombstone[\.weight] == nil && delete.tombstone[\.note] == nil)
        #expect(Array(delete.tombstone).count == 2)
    }

    @Test(.wwdc(2024, 10075, "the model of a change"), arguments: StoreKind.allCases)
    func `A change leads to its model`(kind: StoreKind) throws {
        let stack = try empty(kind), context = stack.context
        let parcel = Parcel(4)
        context.insert(parcel)
        try context.save()
        let id = try #require(context.fetchHistory(Descriptor()).first?.changes.first).changedPersistentIdentifier
        #expect(id == parcel.persistentModelID)
        let found = try stack.other().fetch(FetchDescriptor<Parcel>(predicate: #Predicate { $0.persistentModelID == id }))
        #expect(found.map(\.number) == [4])
    }

    @Test(.wwdc(2024, 10075, "transactions after a token, by an author"), arguments: StoreKind.allCases)
    func `Transactions are chosen by a token and an author`(kind: StoreKind) throws {
        let stack = try stack(kind), context = stack.context, token = try context.fetchHistory(Descriptor())[0].token, author = "app"
        let after = Descriptor(predicate: #Predicate { $0.token > token && $0.author == author })
        #expect(try context.fetchHistory(after).map(\.author) == ["app"])
        #expect(try context.fetchHistory(Descriptor(predicate: #Predicate { $0.token > token })).count == 2)
    }

    @Test(.wwdc(2024, 10075, "a token is kept as JSON"), arguments: StoreKind.allCases)
    func `A token is encoded, decoded and gone on from`(kind: StoreKind) throws {
        let stack = try stack(kind), context = stack.context
        let data = try JSONEncoder().encode(try #require(context.fetchHistory(Descriptor()).last).token)
        let token = try JSONDecoder().decode(DefaultHistoryToken.self, from: data)
        #expect(try context.fetchHistory(Descriptor(predicate: #Predicate { $0.token > token })).isEmpty)
        context.insert(Parcel(2))
        try context.save()
        #expect(try context.fetchHistory(Descriptor(predicate: #Predicate { $0.token > token })).count == 1)
    }

    @Test(.wwdc(2025, 291, "the newest token by an order and a limit"), arguments: StoreKind.allCases)
    func `The last transaction is fetched alone`(kind: StoreKind) throws {
        let stack = try stack(kind), context = stack.context
        var descriptor = Descriptor()
        descriptor.sortBy = [.init(\.transactionIdentifier, order: .reverse)]
        descriptor.fetchLimit = 1
        let found = try context.fetchHistory(descriptor)
        #expect(found.count == 1)
        #expect(found.last?.token == (try context.fetchHistory(Descriptor()).last?.token))
    }

    @Test(.wwdc(2025, 291, "the transactions that change some entities"), arguments: StoreKind.allCases)
    func `Transactions are chosen by the entities of their changes`(kind: StoreKind) throws {
        let stack = try stack(kind), context = stack.context, token = try context.fetchHistory(Descriptor())[1].token
        context.insert(Label("lone"))
        try context.save()
        let names = ["Label"]
        let ofLabels = #Predicate<DefaultHistoryTransaction> {
            $0.token > token && $0.changes.contains { names.contains($0.changedPersistentIdentifier.entityName) }
        }
        #expect(try context.fetchHistory(Descriptor(predicate: #Predicate { $0.token > token })).count == 2)
        #expect(try context.fetchHistory(Descriptor(predicate: ofLabels)).count == 1)
    }

    @Test(.reference("fetching-and-filtering-time-based-model-changes"), arguments: StoreKind.allCases)
    func `Transactions are chosen by their time and their store`(kind: StoreKind) throws {
        let stack = try stack(kind), context = stack.context, all = try context.fetchHistory(Descriptor())
        let time = all[0].timestamp, store = all[0].storeIdentifier
        #expect(try context.fetchHistory(Descriptor(predicate: #Predicate { $0.timestamp > time })).count == 2)
        #expect(try context.fetchHistory(Descriptor(predicate: #Predicate { $0.storeIdentifier == store })).count == 3)
        #expect(all.allSatisfy { $0.changes[0].changedPersistentIdentifier.storeIdentifier == store })
    }

    @Test(.reference("modelcontext/author"), arguments: StoreKind.allCases)
    func `A context without an author makes transactions without one`(kind: StoreKind) throws {
        let stack = try empty(kind), context = stack.context
        #expect(context.author == nil)
        context.insert(Parcel(1))
        try context.save()
        #expect(try context.fetchHistory(Descriptor()).map(\.author) == [nil])
        let author: String? = nil
        #expect(try context.fetchHistory(Descriptor(predicate: #Predicate { $0.author == author })).count == 1)
    }

    @Test(.reference("fetching-and-filtering-time-based-model-changes"), arguments: StoreKind.allCases)
    func `Processed transactions are deleted, and the models stay`(kind: StoreKind) throws {
        let stack = try stack(kind), context = stack.context
        context.insert(Parcel(2))
        try context.save()
        let token = try context.fetchHistory(Descriptor())[2].token
        try context.deleteHistory(Descriptor(predicate: #Predicate { $0.token <= token }))
        #expect(try context.fetchHistory(Descriptor()).count == 1)
        try context.deleteHistory(Descriptor())
        #expect(try context.fetchHistory(Descriptor()).isEmpty)
        #expect(try stack.stored(Parcel.self).map(\.number) == [2])
    }

    @Test(.wwdc(2024, 10075, "tokens of deleted history have expired"), arguments: StoreKind.allCases)
    func `A token of deleted history has expired`(kind: StoreKind) throws {
        let stack = try stack(kind), context = stack.context, token = try context.fetchHistory(Descriptor())[0].token
        try context.deleteHistory(Descriptor())
        #expect(throws: SwiftDataError.historyTokenExpired) { try context.fetchHistory(Descriptor(predicate: #Predicate { $0.token > token })) }
    }

    @Test(.wwdc(2024, 10075, "tokens are valid for their own store"), arguments: StoreKind.allCases)
    func `A token of another store is refused`(kind: StoreKind) throws {
        let token = try stack(kind).history()[0].token, other = try stack(kind)
        #expect(throws: SwiftDataError.historyTokenExpired) { try other.history(Descriptor(predicate: #Predicate { $0.token > token })) }
    }

    @Test(.wwdc(2024, 10075, "a transaction has all changes of a save"), arguments: StoreKind.allCases)
    func `A deletion by a rule is a change of the same transaction`(kind: StoreKind) throws {
        let stack = try empty(kind), context = stack.context, parcel = Parcel(1)
        parcel.labels = [Label("a"), Label("b")]
        context.insert(parcel)
        try context.save()
        context.delete(parcel)
        try context.save()
        let names = try #require(context.fetchHistory(Descriptor()).last).changes.compactMap { change in
            if case .delete = change { change.changedPersistentIdentifier.entityName } else { nil as String? }
        }
        #expect(names.sorted() == ["Label", "Label", "Parcel"])
    }

    @Test(.wwdc(2024, 10075, "a save is a transaction"), arguments: StoreKind.allCases)
    func `Nothing is recorded of changes that are rolled back, or of a save without changes`(kind: StoreKind) throws {
        let stack = try empty(kind), context = stack.context
        context.insert(Parcel(1))
        context.rollback()
        try context.save()
        #expect(try context.fetchHistory(Descriptor()).isEmpty)
    }

    @Test(.wwdc(2025, 291, "changes of other contexts and containers are in the history"), arguments: StoreKind.allCases)
    func `The saves of another context are in the history`(kind: StoreKind) throws {
        let stack = try stack(kind), context = stack.context, token = try #require(context.fetchHistory(Descriptor()).last).token
        let other = stack.other()
        other.author = "other"
        other.insert(Parcel(3))
        try other.save()
        #expect(try context.fetchHistory(Descriptor(predicate: #Predicate { $0.token > token })).map(\.author) == ["other"])
    }

    @Test(.reference("defaulthistorytransaction"), arguments: StoreKind.allCases)
    func `A transaction names the program and the process`(kind: StoreKind) throws {
        let all = try stack(kind).history()
        #expect(all.allSatisfy { !$0.processIdentifier.isEmpty && $0.id == $0.transactionIdentifier })
        #expect(Set(all).count == 3)
        #expect(all[0].token < all[1].token && all[0].token != all[1].token)
    }

    @Test(.reference("defaulthistorytoken/tokenvalue"), arguments: StoreKind.allCases)
    func `A token has a number for its store`(kind: StoreKind) throws {
        let last = try #require(stack(kind).history().last)
        #expect(last.token.tokenValue?[last.storeIdentifier] == last.transactionIdentifier)
    }
}

extension Stack {
    fileprivate func history(_ descriptor: HistoryQuestions.Descriptor = .init()) throws -> [DefaultHistoryTransaction] {
        try context.fetchHistory(descriptor)
    }
}
