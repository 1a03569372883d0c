import Foundation
import Testing

@testable import Heartwood

/// Cards with four texts between fixed attributes, two of the texts with an index. Each way of writing sets each subset of the texts to null, to an
/// empty text, to the old value and to a long one; each way of reading reads it.
///
/// A save that set two texts of one object to nil once wrote wrong values into its other texts.
@Suite struct TextSubsetTests {
    enum Way: CaseIterable {
        case own, elsewhere, oneByOne, child, grandchild, undoAndRedo, overwritingAConflict, mergingAConflict, batchUpdate
    }

    private static let names = ["a", "b", "c", "d"]
    private static let old: [String?] = ["aa", "bbb", "cccc", "ddddd"]

    /// A change of a card: the texts of the bit set `subset` get `value`; nil keeps the old value.
    private struct Change {
        let subset: Int
        let value: String??

        /// The new value by text; nil for an unchanged text.
        var set: [String??] {
            (0..<4).map { index -> String?? in
                guard subset & 1 << index != 0 else { return .none }
                return .some(value ?? TextSubsetTests.old[index])
            }
        }

        var expected: [String?] { zip(set, TextSubsetTests.old).map { $0 ?? $1 } }
    }

    private static let changes: [Change] = [.some(nil), .some(""), nil, .some(String(repeating: "é", count: 200))].flatMap { value in
        (0..<16).map { Change(subset: $0, value: value) }
    }

    private static func model() -> NSManagedObjectModel {
        let card = NSEntityDescription()
        card.name = "Card"
        let texts = names.map { TestStack.attribute($0, .stringAttributeType) }
        card.properties = [
            TestStack.attribute("number", .integer32AttributeType), texts[0], texts[1], TestStack.attribute("made", .dateAttributeType), texts[2],
            TestStack.attribute("id", .UUIDAttributeType), texts[3],
        ]
        card.indexes = [1, 3].map { index in
            NSFetchIndexDescription(name: "by\(index)", elements: [NSFetchIndexElementDescription(property: texts[index], collationType: .binary)])
        }
        let model = NSManagedObjectModel()
        model.entities = [card]
        return model
    }

    private static func cards(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Card")
        request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
        return try context.fetch(request)
    }

    private static func change(_ cards: [NSManagedObject]) {
        for (card, change) in zip(cards, changes) {
            for (name, value) in zip(names, change.set) { if let value { card.setValue(value, forKey: name) } }
        }
    }

    private static func child(of parent: NSManagedObjectContext) -> NSManagedObjectContext {
        let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        child.parent = parent
        return child
    }

    /// Changes all cards in one way of writing, while their context has them registered.
    private static func write(_ way: Way, _ stack: TestStack, _ cards: [NSManagedObject]) throws {
        switch way {
        case .own:
            change(cards)
            try stack.context.save()
        case .elsewhere:
            let context = stack.anew()
            try change(Self.cards(context))
            try context.save()
        case .oneByOne:
            for (index, name) in names.enumerated() {
                for (card, change) in zip(cards, changes) { if let value = change.set[index] { card.setValue(value, forKey: name) } }
                try stack.context.save()
            }
        case .child, .grandchild:
            let child = child(of: stack.context), context = way == .child ? child : Self.child(of: child)
            try change(Self.cards(context))
            try context.save()
            if way == .grandchild { try child.save() }
            try stack.context.save()
        case .undoAndRedo:
            let manager = UndoManager()
            manager.groupsByEvent = false
            stack.context.undoManager = manager
            manager.beginUndoGrouping()
            change(cards)
            stack.context.processPendingChanges()
            manager.endUndoGrouping()
            manager.undo()
            #expect(cards.allSatisfy { texts($0) == old }, "\(way)")
            manager.redo()
            try stack.context.save()
            stack.context.undoManager = nil
        case .overwritingAConflict, .mergingAConflict:
            // Another context has changed only the number, so that both changes are merged.
            for card in cards { _ = texts(card) }
            let other = stack.anew()
            for card in try Self.cards(other) { card.setValue(Date(timeIntervalSinceReferenceDate: 9), forKey: "made") }
            try other.save()
            stack.context.mergePolicy = way == .mergingAConflict ? NSMergePolicy.mergeByPropertyObjectTrump : NSMergePolicy.overwrite
            change(cards)
            try stack.context.save()
        case .batchUpdate:
            for (number, change) in changes.enumerated() where change.subset != 0 {
                let update = NSBatchUpdateRequest(entityName: "Card")
                update.predicate = NSPredicate(format: "number == %d", number)
                var values: [AnyHashable: Any] = [:]
                for (name, value) in zip(names, change.set) { if let value { values[name] = value ?? NSNull() } }
                update.propertiesToUpdate = values
                _ = try stack.context.execute(update)
            }
        }
    }

    private static func texts(_ card: NSManagedObject) -> [String?] { names.map { card.value(forKey: $0) as? String } }

    @Test(arguments: Way.allCases, StoreKind.allCases)
    func `Each subset of four texts, set to nothing, empty, equal or long, is read back`(way: Way, kind: StoreKind) throws {
        guard way != .batchUpdate || StoreKind.batching.contains(kind) else { return }
        let stack = try TestStack(kind, model: Self.model())
        let id = try #require(UUID(uuidString: "01020304-0506-0708-090A-0B0C0D0E0F10")), made = Date(timeIntervalSinceReferenceDate: 5)
        let cards = Self.changes.indices.map { number in
            let texts = Dictionary(uniqueKeysWithValues: zip(Self.names, Self.old).map { ($0, $1 as Any) })
            return stack.insert("Card", ["number": number, "made": made, "id": id].merging(texts) { first, _ in first })
        }
        try stack.context.save()
        try Self.write(way, stack, cards)

        let expected = Self.changes.map(\.expected), reader = stack.anew()
        for (number, card) in try Self.cards(reader).enumerated() {
            #expect(Self.texts(card) == expected[number], "\(way), \(kind): \(Self.changes[number])")
            #expect(card.value(forKey: "number") as? Int == number && card.value(forKey: "id") as? UUID == id && card.value(forKey: "made") is Date)
        }
        stack.context.refreshAllObjects()
        #expect(cards.map(Self.texts) == expected, "\(way), \(kind): in the context that made them")

        let request = NSFetchRequest<NSDictionary>(entityName: "Card")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = Self.names
        request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
        let dictionaries = try reader.fetch(request).map { row in Self.names.map { row[$0] as? String } }
        #expect(dictionaries == expected, "\(way), \(kind): as dictionaries")

        for (index, name) in Self.names.enumerated() {
            for value in Set(expected.map { $0[index] }) {
                let count = NSFetchRequest<NSManagedObject>(entityName: "Card")
                count.predicate = value.map { NSPredicate(format: "%K == %@", name, $0) } ?? NSPredicate(format: "%K == nil", name)
                #expect(
                    try reader.count(for: count) == expected.filter { $0[index] == value }.count, "\(way), \(kind): \(name) == \(value ?? "nil")")
            }
        }
    }
}
