import Foundation
import HeartwoodOutsideStore
import HeartwoodPostgreSQLTestSupport
import Testing

@testable import Heartwood

/// The store types that every behaviour test runs with.
enum StoreKind: String, CaseIterable, CustomTestStringConvertible {
    case recordLog, inMemory, binary
    /// The stores of the documentation's examples: an atomic one and an incremental one.
    case atomic, incremental
    /// A store of another module over the seam of stores, whose rows are in a server of tables.
    case outside
    /// A store in a PostgreSQL database, where HEARTWOOD_POSTGRESQL names a server, or HEARTWOOD_STORE_KINDS this kind: then on a private one.
    case postgreSQL

    /// HEARTWOOD_STORE_KINDS=binary,atomic in the environment runs only those kinds in tests over all kinds.
    private static let wanted = ProcessInfo.processInfo.environment["HEARTWOOD_STORE_KINDS"]?.split(separator: ",").map(String.init)

    static let allCases: [StoreKind] = {
        let all: [StoreKind] = [.recordLog, .inMemory, .binary, .atomic, .incremental, .outside] + (server == nil ? [] : [.postgreSQL])
        return all.filter { wanted?.contains($0.rawValue) ?? true }
    }()

    /// The connection string of the server for stores of PostgreSQL; nil for none.
    static let server: URLComponents? = {
        if let named = ProcessInfo.processInfo.environment["HEARTWOOD_POSTGRESQL"] { return URLComponents(string: named) }
        guard wanted?.contains(StoreKind.postgreSQL.rawValue) == true, let server = try? PostgreSQLTestServer.shared.get() else { return nil }
        var parts = URLComponents()
        (parts.scheme, parts.host, parts.path) = ("postgresql", "", "/postgres")
        parts.queryItems = [URLQueryItem(name: "host", value: server.socketFolder), URLQueryItem(name: "user", value: "postgres")]
        return parts
    }()

    /// The URL of a new store of this kind.
    var newURL: URL {
        let name = "heartwood-\(UUID().uuidString)"
        guard self == .postgreSQL, var server = Self.server else {
            return FileManager.default.temporaryDirectory.appendingPathComponent(name + ".heartwood")
        }
        server.queryItems = (server.queryItems ?? []) + [URLQueryItem(name: "schema", value: name)]
        return server.url ?? URL(fileURLWithPath: name)
    }

    /// Removes a store of this kind that has no file.
    func remove(at url: URL) {
        guard self == .postgreSQL else { return }
        try? NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel()).destroyPersistentStore(at: url, ofType: type)
    }

    var testDescription: String { rawValue }
    /// Whether the content survives removing and adding the store.
    var isFile: Bool { self != .inMemory && self != .incremental }
    /// Whether the content is a file at the store's URL.
    var hasFile: Bool { isFile && self != .outside && self != .postgreSQL }

    var type: String {
        switch self {
        case .recordLog: NSRecordLogStoreType
        case .inMemory: NSInMemoryStoreType
        case .binary: NSBinaryStoreType
        case .atomic: Self.examples.atomic
        case .incremental: Self.examples.incremental
        case .outside: Self.examples.outside
        case .postgreSQL: NSPostgreSQLStoreType
        }
    }

    private static let examples = {
        NSPersistentStoreCoordinator.registerStoreClass(JSONStore.self, forStoreType: "JSON")
        NSPersistentStoreCoordinator.registerStoreClass(DictionaryStore.self, forStoreType: "Dictionary")
        NSPersistentStoreCoordinator.registerStoreClass(ServerStore.self, forStoreType: ServerStore.storeType)
        return (atomic: "JSON", incremental: "Dictionary", outside: ServerStore.storeType)
    }()
}

/// The kinds of tests about what only some stores can do. Each store is asked through the seam, so that a new kind joins by what it says.
extension StoreKind {
    /// Kinds that execute batch requests.
    static let batching = able { $0.batchStore != nil }
    /// Kinds that can keep a history.
    static let recording = able { $0.historyStore != nil }
    /// Kinds that a query generation can name a state of.
    static let keepingStates = able { $0.traitsOfRows.contains(.keepsStates) }
    /// Kinds whose rows are in a record log of the stack: indexes, plans, rows that are counted as they are read.
    static let planning = able { $0.traitsOfRows.contains(.explainsPlans) }
    /// Kinds that compute derived attributes of rows.
    static let deriving = able { $0.traitsOfRows.contains(.explainsPlans) || $0.joiningStore != nil }
    /// Kinds whose store is a record log: what a commit writes, compaction, saves with other stores.
    static let recordLogs = able { $0.joinedLog != nil }
    /// Kinds that keep every value. A server of PostgreSQL has no U+0000 in texts and takes NaN for equal to itself, so a save refuses them.
    static let keepingEveryValue = allCases.filter { $0 != .postgreSQL }
    /// Kinds that bring their rows to another version of their model without copying objects.
    static let migratingInPlace = allCases.filter { $0 == .recordLog || $0 == .postgreSQL }
    /// Kinds whose view counts commits.
    static let countingCommits = able { store in (try? store.newestView())?.commit != nil }
    /// Kinds that number their rows themselves; the others ask the program for a name of each object.
    static let numbering = able { $0.names == nil }

    private static func able(_ isAble: (any GraphStore) -> Bool) -> [StoreKind] {
        allCases.filter { kind in (try? TestStack(kind)).map { isAble($0.persistentStore.seam) } ?? false }
    }
}
