import Foundation
import HeartwoodTestSupport
import Testing

@testable import Heartwood

/// Orders of text other than by bytes.
@Suite struct TextOrderTests {
    private typealias TextOrder = NSSortDescriptor.TextOrder

    private static let names: [String?] = [
        "zoo 10", "Zoo 9", "zoo 9", "Äpfel", "apfel", "Apfel", "A\u{308}pfel", "éclair", "Eclair", "ångström", "Zebra", nil, "", "ß", "ss", "SS",
        "ΣΊΣΥΦΟΣ", "σίσυφος", "中文", "a\u{0}b", "a\u{1}b", "A", "a", "𝒜", "\u{FB03}", "ﬃ 2", "İstanbul", "istanbul", nil, "2", "10", "１０", "-1",
    ]

    /// Foundation's order; equal names keep their order.
    private static func expected(_ names: [String?], _ order: TextOrder, _ isAscending: Bool) -> [Int] {
        func compare(_ a: String?, _ b: String?) -> ComparisonResult {
            guard let a, let b else { return a == nil ? b == nil ? .orderedSame : .orderedAscending : .orderedDescending }
            func bytes(_ a: String, _ b: String) -> ComparisonResult {
                a.utf8.elementsEqual(b.utf8) ? .orderedSame : a.utf8.lexicographicallyPrecedes(b.utf8) ? .orderedAscending : .orderedDescending
            }
            func folded(_ text: String) -> String { text.folding(options: .caseInsensitive, locale: nil).precomposedStringWithCanonicalMapping }
            return switch order {
            case .literal: bytes(a, b)
            case .caseInsensitive: bytes(folded(a), folded(b))
            case .localized: a.localizedCompare(b)
            case .localizedCaseInsensitive: a.localizedCaseInsensitiveCompare(b)
            case .localizedStandard: a.localizedStandardCompare(b)
            }
        }
        return names.indices.sorted { a, b in
            let order = isAscending ? compare(names[a], names[b]) : compare(names[b], names[a])
            return order == .orderedSame ? a < b : order == .orderedAscending
        }
    }

    /// Persons whose ages are the indexes of their names; each is the partner of the next but one.
    private func stack(_ kind: StoreKind, names: [String?] = names) throws -> TestStack {
        let stack = try TestStack(kind)
        for (age, name) in names.enumerated() {
            let person = stack.insert("Person", ["age": age])
            person.setValue(name, forKey: "name")
        }
        try stack.context.save()
        return stack
    }

    private func request(_ key: String, _ order: TextOrder, ascending: Bool = true) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.sortDescriptors = [
            NSSortDescriptor(key: key, ascending: ascending, textOrder: order), NSSortDescriptor(key: "age", ascending: true)]
        return request
    }

    private func ages(_ objects: [NSManagedObject], _ path: String = "age") -> [Int] { objects.compactMap { $0.value(forKeyPath: path) as? Int } }

    @Test(arguments: StoreKind.keepingEveryValue, NSSortDescriptor.TextOrder.allCases)
    func `Every store sorts as Foundation does`(kind: StoreKind, order: NSSortDescriptor.TextOrder) throws {
        let stack = try stack(kind)
        for isAscending in [true, false] {
            let expected = Self.expected(Self.names, order, isAscending), request = request("name", order, ascending: isAscending)
            for context in [stack.context, stack.newContext()] {
                #expect(ages(try context.fetch(request)) == expected)
                for (limit, offset) in [(1, 0), (5, 3), (100, 30)] {
                    (request.fetchLimit, request.fetchOffset) = (limit, offset)
                    #expect(ages(try context.fetch(request)) == Array(expected.dropFirst(offset).prefix(limit)))
                }
                (request.fetchLimit, request.fetchOffset) = (0, 0)
            }
            let all = try stack.fetch("Person", sort: [NSSortDescriptor(key: "age", ascending: true)]) as NSArray
            #expect(ages(all.sortedArray(using: request.sortDescriptors ?? []).compactMap { $0 as? NSManagedObject }) == expected)
        }
    }

    @Test(arguments: StoreKind.planning, NSSortDescriptor.TextOrder.allCases)
    func `Unsaved objects are sorted in`(kind: StoreKind, order: NSSortDescriptor.TextOrder) throws {
        var names = Self.names
        let stack = try stack(kind, names: Array(names[..<20]))
        for age in 20..<names.count {
            let person = stack.insert("Person", ["age": age])
            person.setValue(names[age], forKey: "name")
        }
        names[0] = "örtchen"
        try stack.fetch("Person", "age == 0").first?.setValue(names[0], forKey: "name")
        #expect(ages(try stack.context.fetch(request("name", order))) == Self.expected(names, order, true))
        let child = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        child.parent = stack.context
        #expect(ages(try child.fetch(request("name", order, ascending: false))) == Self.expected(names, order, false))
    }

    @Test(arguments: StoreKind.planning, NSSortDescriptor.TextOrder.allCases)
    func `Paths, groups and dictionaries are sorted as well`(kind: StoreKind, order: NSSortDescriptor.TextOrder) throws {
        let stack = try TestStack(kind), titles = Self.names.compactMap { $0 }
        for (age, title) in titles.enumerated() {
            stack.insert("Person", ["age": age, "name": title, "group": stack.insert("Group", ["title": title])])
        }
        stack.insert("Person", ["age": titles.count])
        try stack.context.save()
        let expected = Self.expected(titles + [nil], order, true)
        #expect(ages(try stack.newContext().fetch(request("group.title", order))) == expected)
        let dictionaries = TestStack.dictionaries("Person", ["age", "name"])
        dictionaries.sortDescriptors = request("group.title", order).sortDescriptors
        #expect(try stack.context.fetch(dictionaries).map { $0["age"] as? Int } == expected)
        let computed = TestStack.dictionaries("Person", ["age", "text = lowercase:(name)"])
        computed.sortDescriptors = request("text", order, ascending: false).sortDescriptors
        let lowered = Self.expected(titles.map { $0.lowercased() } + [nil], order, false)
        #expect(try stack.context.fetch(computed).map { $0["age"] as? Int } == lowered)
        let groups = TestStack.dictionaries("Person", ["name", "least = min:(age)"], by: ["name"])
        groups.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true, textOrder: order), NSSortDescriptor(key: "least", ascending: true)]
        #expect(try stack.context.fetch(groups).map { $0["least"] as? Int } == expected)
    }

    @Test
    func `The store sorts many rows on every core`() throws {
        let seed = ProcessInfo.processInfo.environment["HEARTWOOD_SEED"].flatMap(UInt64.init) ?? .random(in: 0...UInt64.max)
        print("text order: seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let names = (0..<3000).map { _ in Self.names.randomElement(using: &random)?.map { $0 + " \(Int.random(in: 0..<300, using: &random))" } }
        let stack = try TestStack(.recordLog)
        try stack.insertBatch(names.enumerated().map { age, name in ["age": age as Any?, "name": name].compactMapValues { $0 } }, into: "Person")
        for order in TextOrder.allCases {
            let expected = Self.expected(names, order, true), request = request("name", order)
            for tuning in [QueryTuning(), QueryTuning(cores: 2, rowsForCores: 0)] {
                for limit in [0, 10, 1500] {
                    request.fetchLimit = limit
                    let found = try QueryTuning.with(tuning) { try ages(stack.newContext().fetch(request)) }
                    #expect(found == Array(expected.prefix(limit == 0 ? .max : limit)), "seed \(seed)")
                }
            }
            let plan = try stack.context.explain(request)
            #expect(!plan.isInMemory, "\(plan)")
        }
    }

    @Test(arguments: StoreKind.keepingEveryValue)
    func `Only text has text orders`(kind: StoreKind) throws {
        let stack = try stack(kind)
        for key in ["age", "birthday", "group"] {
            let error = #expect(throws: NSError.self) { try stack.context.fetch(request(key, .localized)) }
            #expect(error?.code == NSPersistentStoreUnsupportedRequestTypeError, "\(key) \(String(describing: error))")
        }
    }

    @Test
    func `A key path may have a text order too`() throws {
        let stack = try stack(.recordLog), request = NSFetchRequest<Person>(entityName: "Person")
        request.sortDescriptors = [NSSortDescriptor(keyPath: \Person.name, ascending: true, textOrder: .localizedStandard)]
        let found = try stack.context.fetch(request).map(\.name)
        let expected = Self.expected(Self.names, .localizedStandard, true).map { Self.names[$0] }
        #expect(
            zip(found, expected).allSatisfy { $0 == $1 || $0?.localizedStandardCompare($1 ?? "") == .orderedSame } && found.count == expected.count)
    }

    /// Templates are part of the model that a store keeps.
    @Test
    func `A template keeps its text order`() throws {
        let model = TestStack.model()
        let template = NSFetchRequest<any NSFetchRequestResult>(entityName: "Person")
        template.sortDescriptors = TextOrder.allCases.map { NSSortDescriptor(key: "name", ascending: false, textOrder: $0) }
        model.setFetchRequestTemplate(template, forName: "all")
        let document = try JSONDecoder().decode(ModelDocument.self, from: JSONEncoder().encode(ModelDocument(model)))
        let read = try #require(try ModelBuilder(document).build(into: nil).fetchRequestTemplate(forName: "all"))
        #expect(read.sortDescriptors?.map { SortProbe($0).textOrder } == TextOrder.allCases)
        #expect(read.sortDescriptors?.allSatisfy { SortProbe($0).key == "name" && !$0.ascending } == true)
    }
}
