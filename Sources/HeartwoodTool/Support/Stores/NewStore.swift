import Foundation
import Heartwood
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
        wasThere = StoredModel.isThere(URL(fileURLWithPath: path))
        wasEmptyFile = FileManager.default.fileExists(atPath: path)
    }

    /// Notes the state that the store has before the command's first commit.
    mutating func begin(_ open: OpenStore) { sequence = open.log?.snapshot().sequence }

    /// Closes the store and removes it if this command made it and no commit was made in it. A store that another process has open for writing
    /// stays.
    func discard(_ open: OpenStore) {
        let isUnchanged = open.log?.snapshot().sequence == sequence
        try? open.close()
        guard !wasThere, isUnchanged else { return }
        try? LogStore.remove(path: path, options: StoredModel.options, leavesEmptyFile: wasEmptyFile)
    }
}
