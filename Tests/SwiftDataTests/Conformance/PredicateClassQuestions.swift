import Foundation
import SwiftData
import Testing

enum Trade: String, Codable { case fish, timber }

@Model class Vessel {
    var name: String
    var fleet: Squadron?

    init(_ name: String) { self.name = name }
}

@Model class Trader: Vessel {
    var trade: Trade = Trade.fish
    var load: Double = 1

    init(_ name: String, _ trade: Trade, load: Double) {
        self.trade = trade
        self.load = load
        super.init(name)
    }
}

@Model final class Trawler: Trader {
    var nets: Int = 2

    override init(_ name: String, _ trade: Trade, load: Double) { super.init(name, trade, load: load) }
}

@Model class Yacht: Vessel {
    var sails: Int = 3

    init(_ name: String, sails: Int) {
        self.sails = sails
        super.init(name)
    }
}

@Model final class Squadron {
    @Relationship(inverse: \Vessel.fleet) var vessels: [Vessel] = []

    init() {}
}

/// Classes that inherit from others: fetches and conditions on the class.
@Suite struct PredicateClassQuestions {
    private func stack(_ kind: StoreKind) throws -> Stack {
        let stack = try Stack(kind, Vessel.self, Trader.self, Trawler.self, Yacht.self, Squadron.self), squadron = Squadron()
        stack.context.insert(squadron)
        squadron.vessels = [
            Vessel("plain"), Trader("trader", .timber, load: 5), Trawler("trawler", .fish, load: 7), Yacht("yacht", sails: 4),
        ]
        try stack.context.save()
        return stack
    }

    private func names(_ kind: StoreKind, _ predicate: Predicate<Vessel>) throws -> [String] {
        let stack = try stack(kind), context = stack.other()
        let descriptor = FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.name)])
        let found = try context.fetch(descriptor).map(\.name)
        #expect(try context.fetchCount(descriptor) == found.count)
        return found
    }

    @Test(.reference("adopting-inheritance-in-swiftdata"), arguments: StoreKind.allCases)
    func `A fetch of a class finds its subclasses, each model in its class`(kind: StoreKind) throws {
        let found = try stack(kind).stored(Vessel.self, by: SortDescriptor(\.name))
        #expect(found.map(\.name) == ["plain", "trader", "trawler", "yacht"])
        #expect(found.map { "\(type(of: $0))" } == ["Vessel", "Trader", "Trawler", "Yacht"])
        #expect((found[2] as? Trawler)?.nets == 2 && (found[2] as? Trader)?.load == 7)
    }

    @Test(.wwdc(2025, 291, "a shallow search"), arguments: StoreKind.allCases)
    func `A fetch of a subclass finds that class and those below it`(kind: StoreKind) throws {
        let stack = try stack(kind), context = stack.other()
        #expect(try context.fetch(FetchDescriptor<Trader>(sortBy: [SortDescriptor(\.name)])).map(\.name) == ["trader", "trawler"])
        #expect(try context.fetch(FetchDescriptor<Trawler>()).map(\.name) == ["trawler"])
        #expect(try context.fetchCount(FetchDescriptor<Yacht>()) == 1)
    }

    @Test(.reference("adopting-inheritance-in-swiftdata"), arguments: StoreKind.allCases)
    func `A fetch of a subclass filters and sorts by inherited properties`(kind: StoreKind) throws {
        let descriptor = FetchDescriptor<Trader>(
            predicate: #Predicate { $0.name.starts(with: "tra") && $0.load > 1 }, sortBy: [SortDescriptor(\.name, order: .reverse)])
        let stack = try stack(kind)
        #expect(try stack.other().fetch(descriptor).map(\.name) == ["trawler", "trader"])
    }

    @Test(.wwdc(2025, 291, "is in a predicate"), arguments: StoreKind.allCases)
    func `is chooses the models of a class, with those below it`(kind: StoreKind) throws {
        #expect(try names(kind, #Predicate { $0 is Yacht }) == ["yacht"])
        #expect(try names(kind, #Predicate { $0 is Trader }) == ["trader", "trawler"])
        #expect(try names(kind, #Predicate { !($0 is Trader) }) == ["plain", "yacht"])
    }

    @Test(.wwdc(2025, 291, "is in a predicate, with a search"), arguments: StoreKind.allCases)
    func `is joins other conditions`(kind: StoreKind) throws {
        #expect(try names(kind, #Predicate { $0 is Yacht || $0.name == "trader" }) == ["trader", "yacht"])
        #expect(try names(kind, #Predicate { $0 is Trader && $0.name.localizedStandardContains("WL") }) == ["trawler"])
    }

    @Test(.reference("adopting-inheritance-in-swiftdata"), arguments: StoreKind.allCases)
    func `as leads to a subclass's properties`(kind: StoreKind) throws {
        let fish = Trade.fish
        #expect(try names(kind, #Predicate { if let trader = $0 as? Trader { trader.trade == fish } else { false } }) == ["trawler"])
        #expect(try names(kind, #Predicate { ($0 as? Trader)?.load == 5 }) == ["trader"])
        #expect(try names(kind, #Predicate { (($0 as? Yacht)?.sails ?? 0) > 3 }) == ["yacht"])
    }

    @Test(.reference("adopting-inheritance-in-swiftdata"), arguments: StoreKind.allCases)
    func `A relationship to a class has models of its subclasses`(kind: StoreKind) throws {
        let stack = try stack(kind), context = stack.other()
        let squadron = try #require(context.fetch(FetchDescriptor<Squadron>()).first)
        #expect(Set(squadron.vessels.map { "\(type(of: $0))" }) == ["Vessel", "Trader", "Trawler", "Yacht"])
        let found = FetchDescriptor<Squadron>(predicate: #Predicate { $0.vessels.contains { $0.name == "yacht" } })
        #expect(try context.fetchCount(found) == 1)
    }

    @Test(.reference("modelcontext/delete(model:where:includesubclasses:)"), arguments: StoreKind.allCases)
    func `A deletion of a class takes its subclasses unless it is told otherwise`(kind: StoreKind) throws {
        let stack = try stack(kind), context = stack.other(), order = [SortDescriptor(\Vessel.name)]
        try context.delete(model: Trader.self, includeSubclasses: false)
        try context.save()
        #expect(try context.fetch(FetchDescriptor(sortBy: order)).map(\.name) == ["plain", "trawler", "yacht"])
        try context.delete(model: Trader.self)
        try context.save()
        #expect(try context.fetch(FetchDescriptor(sortBy: order)).map(\.name) == ["plain", "yacht"])
    }
}
