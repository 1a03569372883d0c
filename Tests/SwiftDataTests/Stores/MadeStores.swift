import Foundation
import Heartwood
import SwiftData
import Testing

/// Stores that SwiftData made on Apple's platforms, or that have its forms.
enum MadeStores {
    private static let root = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
    /// Made by Tests/CoreDataStores.
    static let golden = root.appending(path: "Tests/CoreDataStores/Goldens/swiftdata.sqlite")
    static let real = root.deletingLastPathComponent().appending(path: "shared/stores/cartkit-swiftdata/CartKitSwiftData_v1.sqlite")
    static let needsReal: Comment = "needs ../shared/stores"
    static var hasReal: Bool { FileManager.default.fileExists(atPath: real.path) }

    /// Calls `body` with a copy of a store, in a folder that is removed afterwards.
    static func withCopy(of store: URL, _ body: (URL) throws -> Void) throws {
        try withFolder { folder in
            let copy = folder.appending(path: store.lastPathComponent)
            try FileManager.default.copyItem(at: store, to: copy)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: copy.path)
            try body(copy)
        }
    }

    /// The model that a record log has.
    static func model(of store: URL) throws -> NSManagedObjectModel? {
        let type = NSPersistentStoreCoordinator.registeredStoreTypes[NSRecordLogStoreType] as? any FileStore.Type
        return try type?.storedModel(at: store, options: nil)
    }

    static func withFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "SwiftDataTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }
}

/// The classes of the real store, as its model cache has them.
enum CartKit {
    @Model
    final class CartModel {
        @Attribute(.unique) var id: String
        var storeId: String
        var profileId: String?
        var displayName: String?
        var context: String?
        var storeImageURLString: String?
        var metadataJSON: Data?
        var status: String
        var createdAt: Date
        var updatedAt: Date
        var minSubtotalAmount: Decimal?
        var minSubtotalCurrencyCode: String?
        var maxItemCount: Int?
        @Relationship(deleteRule: .cascade) var items: [CartItemModel] = []

        init(id: String, storeId: String, status: String, createdAt: Date) {
            self.id = id
            self.storeId = storeId
            self.status = status
            self.createdAt = createdAt
            updatedAt = createdAt
        }
    }

    @Model
    final class CartItemModel {
        @Attribute(.unique) var id: String
        var productId: String
        var quantity: Int
        var unitPriceAmount: Decimal
        var unitPriceCurrencyCode: String
        var totalPriceAmount: Decimal
        var totalPriceCurrencyCode: String
        var imageURLString: String?
        var availableStock: Int?
        @Relationship(deleteRule: .cascade) var modifiers: [CartItemModifierModel] = []

        init(id: String, productId: String, quantity: Int, unitPrice: Decimal, currency: String) {
            self.id = id
            self.productId = productId
            self.quantity = quantity
            unitPriceAmount = unitPrice
            unitPriceCurrencyCode = currency
            totalPriceAmount = unitPrice * Decimal(quantity)
            totalPriceCurrencyCode = currency
        }
    }

    @Model
    final class CartItemModifierModel {
        @Attribute(.unique) var id: String
        var name: String
        var priceDeltaAmount: Decimal
        var priceDeltaCurrencyCode: String

        init(id: String, name: String) {
            self.id = id
            self.name = name
            priceDeltaAmount = 0
            priceDeltaCurrencyCode = "EUR"
        }
    }

    /// As an app has it that was written anew: the status is an enumeration.
    enum Anew {
        enum Status: String, Codable { case active, checkedOut }

        @Model
        final class CartModel {
            @Attribute(.unique) var id: String
            var storeId: String
            var profileId: String?
            var displayName: String?
            var context: String?
            var storeImageURLString: String?
            var metadataJSON: Data?
            var status: Status
            var createdAt: Date
            var updatedAt: Date
            var minSubtotalAmount: Decimal?
            var minSubtotalCurrencyCode: String?
            var maxItemCount: Int?
            @Relationship(deleteRule: .cascade) var items: [CartItemModel] = []

            init(id: String, status: Status) {
                self.id = id
                self.status = status
                storeId = ""
                createdAt = .now
                updatedAt = .now
            }
        }
    }
}

/// The classes of the golden store.
enum GoldenCart {
    enum Status: String, Codable { case active, done }

    enum Kind: Codable, Equatable {
        case small(Int)
        case large(name: String, count: Int)
    }

    struct Price: Codable, Equatable {
        var amount: Decimal?
        var currency: String?
        var steps: [Int]
    }

    @Model
    final class CartModel {
        @Attribute(.unique, .preserveValueOnDeletion) var id: String?
        var status: Status?
        var price: Price?
        var tags: [String]?
        var kind: Kind?
        var items: [ItemModel]?

        init(id: String) { self.id = id }
    }

    @Model
    final class ItemModel {
        var name: String?
        var metadata: [String: Int]?

        init(name: String) { self.name = name }
    }
}

/// A later version of those classes.
enum GoldenCartTwo: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [CartModel.self, ItemModel.self] }

    @Model
    final class CartModel {
        @Attribute(.unique, .preserveValueOnDeletion) var id: String?
        var status: GoldenCart.Status?
        var price: GoldenCart.Price?
        @Attribute(originalName: "tags") var words: [String]?
        var kind: GoldenCart.Kind?
        var isOpen: Bool = true
        var items: [ItemModel]?

        init(id: String) { self.id = id }
    }

    @Model
    final class ItemModel {
        var name: String?
        var metadata: [String: Int]?

        init(name: String) { self.name = name }
    }
}

enum GoldenCartOne: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [GoldenCart.CartModel.self, GoldenCart.ItemModel.self] }
}

enum GoldenCartPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [GoldenCartOne.self, GoldenCartTwo.self] }
    static var stages: [MigrationStage] { [.lightweight(fromVersion: GoldenCartOne.self, toVersion: GoldenCartTwo.self)] }
}
