import Foundation
import Heartwood

extension ModelContainer {
    /// The number of the newest commit that a store knows, or of the one that its configuration names (`ModelConfiguration.asOf`); nil for a store in
    /// memory and one of the program's own.
    /// - Parameter name: the configuration's; nil for the only one.
    public func commitNumber(forConfigurationNamed name: String? = nil) -> UInt64? {
        let stores = container.persistentStoreCoordinator.persistentStores
        guard let name else { return stores.count == 1 ? stores.first?.commitNumber : nil }
        return stores.first { $0.identifier == storeIdentifier(forConfigurationNamed: name) }?.commitNumber
    }

    /// Copies the stores to a directory, each as of one moment, while contexts read and write on. A container opens such a copy as any other store.
    ///
    /// A copy has no commits behind its own. To keep each commit, and only what is new, back the file up with RecordLog's `StoreBackup`.
    /// - Parameter directory: is made if it is missing. Files in it that have the names of the stores' are replaced.
    /// - Returns: the copies, by the names of their configurations.
    /// - Throws: the coordinator's errors of `replacePersistentStore`: 134030 for a copy that cannot be written. Copies before it stay.
    /// - Complexity: O(stores).
    @discardableResult
    public func copyStores(to directory: URL) throws -> [String: URL] {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        var copies: [String: URL] = [:]
        for configuration in configurations.sorted(by: { $0.name < $1.name }) {
            let file = configuration.isStoredInMemoryOnly ? "\(configuration.name).store" : configuration.url.lastPathComponent
            let copy = directory.appending(path: file)
            try container.persistentStoreCoordinator.replacePersistentStore(
                at: copy, withPersistentStoreFrom: configuration.url, ofType: NSRecordLogStoreType)
            copies[configuration.name] = copy
        }
        return copies
    }
}
