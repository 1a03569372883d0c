import Foundation
import Heartwood
import HeartwoodPostgreSQL
import RecordLog

/// A store that a command makes unless its path has one already. A command that fails before its first commit removes what it made.
struct NewStore {
    private let path: String
    /// Whether the path had an empty file, which becomes a store; it may be a temporary file with permissions of its own.
    private let wasEmptyFile: Bool
    private let wasThere: Bool
    /// The number of the commit that made the store.
    private var sequence: UInt64?

    /// To be made before the store is opened.
    init(at path: String) {
        self.path = path
        wasThere = (try? Self.isThere(path)) ?? true
        wasEmptyFile = FileManager.default.fileExists(atPath: path)
    }

    /// Whether a store is at a path, or in the schema that a URL names.
    static func isThere(_ path: String) throws -> Bool {
        DatabaseStore.isOne(path) ? try DatabaseStore.transfer(path).storedModel() != nil : StoredModel.isThere(URL(fileURLWithPath: path))
    }

    /// The configuration with which a store was made; nil for none, and where there is no store.
    static func configuration(of path: String) throws -> String? {
        DatabaseStore.isOne(path)
            ? try DatabaseStore.transfer(path).storedModel()?.configuration : try StoredModel.configuration(at: URL(fileURLWithPath: path))
    }

    /// Notes the state that the store has before the command's first commit.
    mutating func begin(_ open: OpenStore) { sequence = open.log?.snapshot().sequence }

    /// Closes the store and removes it if this command made it and no commit was made in it. A store that another process has open for writing
    /// stays.
    func discard(_ open: OpenStore) {
        guard !DatabaseStore.isOne(path) else { return discardTables(open) }
        let isUnchanged = open.log?.snapshot().sequence == sequence
        try? open.close()
        guard !wasThere, isUnchanged else { return }
        try? LogStore.remove(path: path, options: StoredModel.options, leavesEmptyFile: wasEmptyFile)
    }

    private func discardTables(_ open: OpenStore) {
        let isEmpty = (try? DatabaseStore.transfer(path).isEmpty()) ?? false
        try? open.close()
        guard !wasThere, isEmpty else { return }
        try? open.coordinator.destroyPersistentStore(at: open.url, ofType: NSPostgreSQLStoreType)
    }
}
