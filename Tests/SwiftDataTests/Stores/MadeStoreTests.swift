import Foundation
import Heartwood
import SwiftData
import Testing

/// Stores that SwiftData made: read in place, converted, and written.
@Suite struct MadeStoreTests {
    private static let carts: [any PersistentModel.Type] = [GoldenCart.CartModel.self, GoldenCart.ItemModel.self]

    private static func golden(_ url: URL, allowsSave: Bool) throws -> ModelContainer {
        try ModelContainer(for: Schema(carts), configurations: ModelConfiguration(url: url, allowsSave: allowsSave))
    }

    private static func expectGolden(_ context: ModelContext) throws {
        let found = try context.fetch(FetchDescriptor<GoldenCart.CartModel>(sortBy: [SortDescriptor(\.id)]))
        #expect(found.map(\.id) == ["c1", "c2"])
        let cart = try #require(found.first), empty = try #require(found.last)
        #expect(cart.status == .active && empty.status == nil)
        #expect(cart.price == GoldenCart.Price(amount: 12.5, currency: "EUR", steps: [1, 2, 3]))
        #expect(empty.price == GoldenCart.Price(amount: nil, currency: nil, steps: []))
        #expect(cart.tags == ["a", "b"] && empty.tags == nil)
        #expect(cart.kind == .small(5) && empty.kind == nil)
        #expect(Set((cart.items ?? []).map(\.name)) == ["i", nil] && empty.items?.isEmpty == true)
        let items = try context.fetch(FetchDescriptor<GoldenCart.ItemModel>())
        #expect(items.count == 3 && items.compactMap(\.metadata) == [[:]])
    }

    // MARK: In place

    @Test func `A store of SwiftData's forms is read in place, and its file stays as it is`() throws {
        try MadeStores.withCopy(of: MadeStores.golden) { url in
            let bytes = try Data(contentsOf: url)
            let container = try Self.golden(url, allowsSave: false)
            let context = ModelContext(container)
            try Self.expectGolden(context)
            let active = GoldenCart.Status.active
            #expect(try context.fetchCount(FetchDescriptor<GoldenCart.CartModel>(predicate: #Predicate { $0.status == active })) == 1)
            #expect(try context.fetch(FetchDescriptor<GoldenCart.CartModel>(predicate: #Predicate { $0.tags?.contains("b") == true })).count == 1)
            #expect(try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).map { $0.changes.count } == [3])
            context.insert(GoldenCart.ItemModel(name: "new"))
            #expect(throws: (any Error).self) { try context.save() }
            #expect(try Data(contentsOf: url) == bytes)
            #expect(try FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path) == [url.lastPathComponent])
        }
    }

    @Test func `A class that differs from a store that is only read is refused with what to do`() throws {
        try MadeStores.withCopy(of: MadeStores.golden) { url in
            let error = #expect(throws: SwiftDataError.loadIssueModelContainer) {
                try ModelContainer(for: CartKit.CartModel.self, configurations: ModelConfiguration(url: url, allowsSave: false))
            }
            #expect(error?.explanation?.contains("heartwood convert") == true, "\(error?.explanation ?? "")")
        }
    }

    // MARK: Converted

    @Test func `A store that is to be written becomes a record log in its place, and keeps its forms`() throws {
        try MadeStores.withCopy(of: MadeStores.golden) { url in
            do {
                let context = ModelContext(try Self.golden(url, allowsSave: true))
                try Self.expectGolden(context)
                let cart = GoldenCart.CartModel(id: "c3")
                (cart.status, cart.tags, cart.kind) = (.done, ["x"], .large(name: "n", count: 2))
                cart.price = GoldenCart.Price(amount: 1, currency: nil, steps: [7])
                context.insert(cart)
                cart.items = [GoldenCart.ItemModel(name: "new")]
                try context.save()
            }
            #expect(FileManager.default.fileExists(atPath: url.path + "-original"))
            let container = try Self.golden(url, allowsSave: true)
            let id: String? = "c3"
            let found = try ModelContext(container).fetch(FetchDescriptor<GoldenCart.CartModel>(predicate: #Predicate { $0.id == id }))
            let cart = try #require(found.first)
            #expect(cart.status == .done && cart.tags == ["x"] && cart.kind == .large(name: "n", count: 2))
            #expect(cart.price == GoldenCart.Price(amount: 1, currency: nil, steps: [7]) && cart.items?.map(\.name) == ["new"])
            try container.expectRow("CartModel", "id", "c3") { row in
                #expect((row.value(forKey: "status") as? [String: Any])?["status"] as? String == "done")
                #expect((row.value(forKey: "tags") as? NSArray)?.firstObject as? String == "x")
                let kind = row.value(forKey: "kind") as? [String: Any]
                #expect(kind?.keys.sorted() == ["large"])
                #expect((kind?["large"] as? Data).map { String(decoding: $0, as: UTF8.self) } == #"{"count":2,"name":"n"}"#)
                #expect(((row.value(forKey: "price") as? [String: Any])?["steps"] as? Data) == Data("[7]".utf8))
            }
        }
    }

    @Test func `A plan brings a converted store to the next version, in the forms that it has`() throws {
        try MadeStores.withCopy(of: MadeStores.golden) { url in
            let container = try ModelContainer(
                for: Schema(versionedSchema: GoldenCartTwo.self), migrationPlan: GoldenCartPlan.self, configurations: ModelConfiguration(url: url))
            let context = ModelContext(container)
            let found = try context.fetch(FetchDescriptor<GoldenCartTwo.CartModel>(sortBy: [SortDescriptor(\.id)]))
            #expect(found.map(\.words) == [["a", "b"], nil] && found.map(\.kind) == [.small(5), nil] && found.allSatisfy(\.isOpen))
            #expect(found.first?.price == GoldenCart.Price(amount: 12.5, currency: "EUR", steps: [1, 2, 3]))
            let stored = try MadeStores.model(of: url)?.entitiesByName["CartModel"]
            #expect(stored?.attributesByName["words"]?.attributeType == .transformableAttributeType)
        }
    }

    // MARK: A real store

    @Test(.enabled(if: MadeStores.hasReal, MadeStores.needsReal), arguments: [false, true])
    func `A real store of SwiftData's has its values, in place and converted`(isConverted: Bool) throws {
        try MadeStores.withCopy(of: MadeStores.real) { url in
            let container = try ModelContainer(for: CartKit.CartModel.self, configurations: ModelConfiguration(url: url, allowsSave: isConverted))
            let context = ModelContext(container)
            let cart = try #require(try context.fetch(FetchDescriptor<CartKit.CartModel>()).first)
            #expect(cart.id == "31D0046D-3C85-410E-BBB0-141FC0105E06" && cart.status == "active" && cart.storeId == "store-legacy")
            #expect(abs(cart.createdAt.timeIntervalSince1970 - 1_769_785_305.80792) < 0.001 && cart.updatedAt == cart.createdAt)
            #expect(cart.metadataJSON == Data(#"{"source":"legacy-swiftdata"}"#.utf8))
            #expect(cart.context == nil && cart.maxItemCount == nil && cart.minSubtotalAmount == nil && cart.items.isEmpty)
            #expect(cart.persistentModelID.entityName == "CartModel")
            #expect(container.storeIdentifier(forConfigurationNamed: "CartKitSwiftData_v1") == "C2A6F180-A5E4-47ED-ABB7-F14AB955DC76")
            #expect(try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).count == 1)
            guard isConverted else { return }
            cart.items = [CartKit.CartItemModel(id: "i", productId: "p", quantity: 2, unitPrice: 1.25, currency: "EUR")]
            cart.maxItemCount = 4
            try context.save()
            let again = try #require(try ModelContext(container).fetch(FetchDescriptor<CartKit.CartModel>()).first)
            #expect(again.maxItemCount == 4 && again.items.map(\.totalPriceAmount) == [2.5])
        }
    }

    @Test(.enabled(if: MadeStores.hasReal, MadeStores.needsReal))
    func `An enumeration reads and writes an attribute that a store keeps without a composite`() throws {
        try MadeStores.withCopy(of: MadeStores.real) { url in
            let container = try ModelContainer(for: CartKit.Anew.CartModel.self, configurations: ModelConfiguration(url: url))
            let context = ModelContext(container)
            let active = CartKit.Anew.Status.active
            let found = try context.fetch(FetchDescriptor<CartKit.Anew.CartModel>(
                predicate: #Predicate { $0.status == active }, sortBy: [SortDescriptor(\.createdAt)]))
            #expect(found.map(\.status) == [.active])
            found.first?.status = .checkedOut
            try context.save()
            try container.expectRow("CartModel", "storeId", "store-legacy") { #expect($0.value(forKey: "status") as? String == "checkedOut") }
            let rest = FetchDescriptor<CartKit.Anew.CartModel>(predicate: #Predicate { $0.status == active })
            #expect(try ModelContext(container).fetchCount(rest) == 0)
        }
    }
}

extension ModelContainer {
    /// Calls `body` with the managed object of the store that has a value, as a context of managed objects reads it.
    func expectRow(_ entity: String, _ key: String, _ value: String, _ body: (NSManagedObject) throws -> Void) throws {
        let url = try #require(configurations.first?.url)
        let model = try #require(try MadeStores.model(of: url))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        _ = try coordinator.addPersistentStore(type: .recordLog, at: url, options: [NSReadOnlyPersistentStoreOption: true])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: "%K == %@", key, value)
        try body(try #require(try context.fetch(request).first))
    }
}
