import Foundation
import SwiftData
import Testing

enum ShopV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Customer.self] }

@Model
final class Customer {
    var fullName: String
    var age: Int = 0

    init(fullName: String) { self.fullName = fullName }
}
}

enum ShopV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Customer.self] }

@Model
final class Customer {
    @Attribute(originalName: "fullName") var name: String
    var age: Int = 0
    var initials: String = ""

    init(name: String) { self.name = name }
}
}

enum ShopV3: VersionedSchema {
    static let versionIdentifier = Schema.Version(3, 0, 0)
    static var models: [any PersistentModel.Type] { [Customer.self, Order.self] }

@Model
final class Customer {
    @Attribute(.unique) var name: String
    var initials: String = ""
    var orders: [Order] = []

    init(name: String) { self.name = name }
}

@Model
final class Order {
    var number: Int = 0
    var customer: Customer?

    init(number: Int) { self.number = number }
}
}

struct Broken: Error {}

enum ShopPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [ShopV1.self, ShopV2.self, ShopV3.self] }
    static var stages: [MigrationStage] { [toV2, toV3] }

    static let toV2 = MigrationStage.custom(
        fromVersion: ShopV1.self, toVersion: ShopV2.self,
        willMigrate: { context in
            for customer in try context.fetch(FetchDescriptor<ShopV1.Customer>()) where customer.fullName.isEmpty { context.delete(customer) }
            try context.save()
        },
        didMigrate: { context in
            for customer in try context.fetch(FetchDescriptor<ShopV2.Customer>()) {
                customer.initials = String(customer.name.split(separator: " ").compactMap(\.first))
            }
        })
    static let toV3 = MigrationStage.lightweight(fromVersion: ShopV2.self, toVersion: ShopV3.self)
}

enum GapPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [ShopV1.self, ShopV2.self, ShopV3.self] }
    static var stages: [MigrationStage] { [ShopPlan.toV3] }
}

enum ThrowingPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [ShopV1.self, ShopV2.self] }
    static var stages: [MigrationStage] {
        [.custom(fromVersion: ShopV1.self, toVersion: ShopV2.self, willMigrate: nil, didMigrate: { context in
            try context.delete(model: ShopV2.Customer.self)
            try context.save()
            throw Broken()
        })]
    }
}

@Suite struct MigrationPlanTests {
    private let url = FileManager.default.temporaryDirectory.appending(path: "SwiftDataTests-\(UUID().uuidString).store")

    private func open(_ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)? = nil) throws -> ModelContext {
        ModelContext(try ModelContainer(for: Schema(versionedSchema: version), migrationPlan: plan, configurations: ModelConfiguration(url: url)))
    }

    private func makeFirst(_ names: [String]) throws {
        let context = try open(ShopV1.self)
        for name in names { context.insert(ShopV1.Customer(fullName: name)) }
        try context.save()
    }

    @Test func `A plan brings a store over all its versions`() throws {
        try makeFirst(["Ada Lovelace", "", "Alan Turing"])
        let context = try open(ShopV3.self, ShopPlan.self)
        let found = try context.fetch(FetchDescriptor<ShopV3.Customer>(sortBy: [SortDescriptor(\.name)]))
        #expect(found.map(\.name) == ["Ada Lovelace", "Alan Turing"])
        #expect(found.map(\.initials) == ["AL", "AT"])
        found[0].orders.append(ShopV3.Order(number: 1))
        try context.save()
        // The same again: nothing is left to do.
        #expect(try open(ShopV3.self, ShopPlan.self).fetchCount(FetchDescriptor<ShopV3.Order>()) == 1)
        let names = try FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path)
        #expect(names.filter { $0.contains(url.lastPathComponent) && $0.contains("migrating") }.isEmpty)
    }

    @Test func `A plan starts at the store's version`() throws {
        let context = try open(ShopV2.self)
        context.insert(ShopV2.Customer(name: "B C"))
        try context.save()
        #expect(try open(ShopV3.self, ShopPlan.self).fetch(FetchDescriptor<ShopV3.Customer>()).map(\.initials) == [""])
    }

    @Test func `Without a plan the versions themselves are enough for small changes`() throws {
        try makeFirst(["Ada"])
        #expect(try open(ShopV2.self).fetch(FetchDescriptor<ShopV2.Customer>()).map(\.name) == ["Ada"])
    }

    @Test func `A gap, a stage that throws and an older version leave the store as it was`() throws {
        try makeFirst(["Ada"])
        #expect(throws: SwiftDataError.loadIssueModelContainer) { try open(ShopV3.self, GapPlan.self) }
        #expect(throws: Broken.self) { try open(ShopV2.self, ThrowingPlan.self) }
        #expect(try open(ShopV1.self).fetch(FetchDescriptor<ShopV1.Customer>()).map(\.fullName) == ["Ada"])
        _ = try open(ShopV3.self, ShopPlan.self)
        #expect(throws: SwiftDataError.backwardMigration) { try open(ShopV1.self, ShopPlan.self) }
        #expect(try open(ShopV3.self, ShopPlan.self).fetch(FetchDescriptor<ShopV3.Customer>()).map(\.name) == ["Ada"])
    }

    @Test func `A store that is none of a plan's versions is refused`() throws {
        let other = try ModelContainer(for: Author.self, configurations: ModelConfiguration(url: url))
        ModelContext(other).insert(Author(name: "A"))
        #expect(throws: SwiftDataError.unknownDataStoreSchema) { try open(ShopV3.self, ShopPlan.self) }
    }
}
