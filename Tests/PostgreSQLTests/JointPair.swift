import Foundation
import Heartwood
import HeartwoodPostgreSQL
import HeartwoodPostgreSQLTestSupport
import Testing
import heartwood_postgresql_testprocess

/// Two stores of one coordinator, of which one at least is in a PostgreSQL database. Each has an account of its own.
final class JointPair {
    enum Kind: String, CaseIterable, CustomTestStringConvertible {
        case servers, logAndServer, serverAndLog
        var testDescription: String { rawValue }
    }

    let urls: [URL]
    let coordinator: NSPersistentStoreCoordinator
    let stores: [NSPersistentStore]
    let context: NSManagedObjectContext

    /// - Parameter socketFolder: of the server, or of a proxy before it.
    init(_ kind: Kind, socketFolder: String? = nil) throws {
        let log = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).heartwood")
        func server() throws -> URL { try ServerStack.newURL(socketFolder: socketFolder) }
        urls = switch kind {
        case .servers: [try server(), try server()]
        case .logAndServer: [log, try server()]
        case .serverAndLog: [try server(), log]
        }
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: BankProcess.model())
        stores = try urls.map { [coordinator] in try coordinator.addPersistentStore(ofType: Self.type($0), configurationName: nil, at: $0) }
        context = Self.context(coordinator)
        for (number, store) in stores.enumerated() {
            let account = NSEntityDescription.insertNewObject(forEntityName: "Account", into: context)
            account.setValuesForKeys(["number": number, "balance": 0])
            context.assign(account, to: store)
            try context.save()
        }
    }

    deinit {
        close()
        for url in urls { try? coordinator.destroyPersistentStore(at: url, ofType: Self.type(url)) }
    }

    func close() { for store in coordinator.persistentStores { try? coordinator.remove(store) } }

    static func type(_ url: URL) -> String { url.isFileURL ? NSRecordLogStoreType : NSPostgreSQLStoreType }

    static func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Gives both accounts a balance, and inserts a transfer in each store.
    func change(_ number: Int) throws {
        for account in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Account")) { account.setValue(number, forKey: "balance") }
        for store in stores {
            let transfer = NSEntityDescription.insertNewObject(forEntityName: "Transfer", into: context)
            transfer.setValue(number, forKey: "amount")
            context.assign(transfer, to: store)
        }
    }

    /// The balance and the transfers' amounts of one store.
    struct Shown: Equatable, CustomStringConvertible {
        let balance: Int?
        let amounts: [Int]
        var description: String { "balance \(balance.map(String.init) ?? "-"), transfers \(amounts)" }
    }

    static func shown(_ context: NSManagedObjectContext, _ store: NSPersistentStore) throws -> Shown {
        func fetch(_ entity: String, _ key: String) throws -> [Int] {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.affectedStores = [store]
            return try context.fetch(request).compactMap { $0.value(forKey: key) as? Int }
        }
        return Shown(balance: try fetch("Account", "balance").first, amounts: try fetch("Transfer", "amount").sorted())
    }

    /// What a program shows that opens one store alone.
    static func shown(at url: URL, options: [String: Any]? = nil) throws -> Shown {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: BankProcess.model())
        let store = try coordinator.addPersistentStore(ofType: type(url), configurationName: nil, at: url, options: options)
        defer { try? coordinator.remove(store) }
        return try shown(context(coordinator), store)
    }
}
