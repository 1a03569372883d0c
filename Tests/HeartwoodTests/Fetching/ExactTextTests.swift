import Foundation
import Testing

@testable import Heartwood

/// Composed and decomposed forms of one text, which are equal in Swift, are two texts wherever texts are data.
@Suite struct ExactTextTests {
    private static let composed = "\u{E9}t\u{E9}", decomposed = "e\u{301}te\u{301}"

    /// Twenty samples with each form as their name, and twenty with neither.
    private func stack(_ kind: StoreKind, at url: URL? = nil, _ indexes: [NSFetchIndexDescription] = []) throws -> TestStack {
        let model = SampleGraph.model()
        model.entitiesByName["Sample"]?.indexes += indexes
        let stack = try TestStack(kind, model: model, at: url)
        stack.store.indexing.wait()
        guard try stack.fetch("Sample").isEmpty else { return stack }
        for number in 0..<60 { stack.insert("Sample", ["name": [Self.composed, Self.decomposed, "x"][number % 3], "bits": number]) }
        try stack.context.save()
        return stack
    }

    private func counts(_ stack: TestStack, _ predicate: NSPredicate) throws -> [Int] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Sample")
        request.predicate = predicate
        let found = try [QueryTuning(), QueryTuning(access: .scan), QueryTuning(access: .index("index:byName"))].map { tuning in
            try QueryTuning.with(tuning) { try stack.context.fetch(request).count }
        }
        return try found + [stack.fetch("Sample").filter { predicate.evaluate(with: $0) }.count]
    }

    @Test(arguments: StoreKind.planning)
    func `A list may have both forms`(kind: StoreKind) throws {
        let stack = try stack(kind), both = [Self.composed, Self.decomposed]
        for (format, list, wanted) in [
            ("name IN %@", both, 40), ("name IN %@", [Self.composed], 20), ("name IN %@", [Self.decomposed, "y"], 20), ("NOT name IN %@", both, 20),
            ("name IN[n] %@", both, 40), ("name IN %@", both + both + ["x"], 60),
        ] {
            #expect(try counts(stack, NSPredicate(format: format, argumentArray: [list])) == [wanted, wanted, wanted, wanted], "\(format) \(list)")
        }
    }

    @Test(arguments: StoreKind.planning)
    func `Aggregates over the two forms differ`(kind: StoreKind) throws {
        let stack = try stack(kind)
        let request = TestStack.dictionaries("Sample")
        request.propertiesToFetch = [("a", Self.composed), ("b", Self.decomposed)].map { name, text in
            let description = NSExpressionDescription()
            description.name = name
            description.expression = NSExpression(format: "sum:(TERNARY(name == %@ AND bits < 30, 1, 0))", argumentArray: [text])
            return description
        }
        stack.insert("Sample", ["name": Self.composed, "bits": 1])
        try stack.context.save()
        #expect(texts(try stack.context.fetch(request)) == ["a 11, b 10"])
    }

    @Test
    func `Predicates and expressions with the two forms differ`() {
        func predicate(_ text: String) -> NSPredicate { NSPredicate(format: "name == %@", argumentArray: [text]) }
        #expect(predicate(Self.composed) != predicate(Self.decomposed))
        #expect(predicate(Self.composed) == predicate(Self.composed))
        #expect(NSExpression(forConstantValue: Self.composed) != NSExpression(forConstantValue: Self.decomposed))
    }

    /// An index over an expression with one form is not used for the other, nor mistaken for its index when the store is opened again.
    @Test
    func `An index covers one form`() throws {
        func index(_ text: String) -> NSFetchIndexDescription {
            let computed = NSExpressionDescription()
            computed.expression = NSExpression(format: "TERNARY(name == %@, bits, -1)", argumentArray: [text])
            return NSFetchIndexDescription(name: "some", elements: [NSFetchIndexElementDescription(property: computed, collationType: .binary)])
        }
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-\(UUID().uuidString).heartwood")
        // Kept, since a stack deletes its file with it.
        var stacks: [TestStack] = []
        for indexed in [Self.composed, Self.decomposed] {
            let stack = try stack(.recordLog, at: url, [index(indexed)])
            stacks.append(stack)
            for (text, bits) in [(Self.composed, 30), (Self.decomposed, 31)] {
                let most = text.utf8.elementsEqual(indexed.utf8) ? 1 : 60
                let request = NSFetchRequest<NSManagedObject>(entityName: "Sample")
                request.predicate = NSPredicate(format: "TERNARY(name == %@, bits, -1) == \(bits)", argumentArray: [text])
                let plan = try stack.context.explain(request)
                #expect(plan.rowsMatched == 1 && plan.rowsVisited <= most, "\(indexed.utf8.count), \(text.utf8.count): \(plan)")
            }
            try stack.coordinator.remove(stack.persistentStore)
        }
    }

    @Test
    func `A lookup and a reference object distinguish the two forms`() throws {
        let stack = try TestStack(.inMemory), entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Person"])
        let attribute = try #require(entity.attributesByName["email"])
        let lookup = UniqueLookup(entity: entity, attribute: attribute, context: stack.context)
        let made = try lookup.make(Self.composed)
        #expect(try lookup.find(Self.composed) === made)
        #expect(try lookup.find(Self.decomposed) == nil)
        let references = ReferenceTable()
        #expect(references.row(of: Self.composed, slot: 1).row == 1 && references.row(of: Self.decomposed, slot: 1).row == 2)
        #expect(references.row(named: Self.decomposed, slot: 1) == 2)
    }
}
