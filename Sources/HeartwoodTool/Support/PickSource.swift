import Foundation
import Heartwood
import RecordLog

/// The store of the past from which objects are taken: a store as of a commit, or its backup.
struct PickSource {
    private let path: String
    private let past: PastCommit?

    /// - Parameters:
    ///   - path: a store's file, or the directory of a backup.
    ///   - past: nil for the newest commit.
    init(_ path: String, at past: PastCommit?) {
        self.path = path
        self.past = past
    }

    /// Calls `body` with the opened store. A backup is restored to a temporary file first, which needs as much space as the store.
    func with<Result>(like store: String, _ body: (OpenStore) throws -> Result) throws -> Result {
        var isDirectory: ObjCBool = false
        guard path.contains("://") || FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory.boolValue else {
            let open = try OpenStore(path: path, isReadOnly: true, at: past)
            defer { try? open.close() }
            return try body(open)
        }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-cherry-pick-\(UUID().uuidString)")
        // A private store's rows are for its owner only.
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        let restored = folder.appendingPathComponent("past.heartwood").path
        try restore(to: restored, identity(of: store))
        let open = try OpenStore(path: restored, isReadOnly: true)
        defer { try? open.close() }
        return try body(open)
    }

    private func identity(of store: String) throws -> StoredUUID {
        var options = StoredModel.options
        options.isReadOnly = true
        let log = try LogStore.open(path: store, options: options)
        defer { try? log.close() }
        return log.storeID
    }

    private func restore(to file: String, _ identity: StoredUUID) throws {
        var restore = StoreRestore(from: try BackupText.destination(path), to: file, options: StoredModel.options)
        restore.storeID = identity
        let point: StoreRestore.Point = switch past {
        case nil: .newest
        case .number(let number)?: .commit(number)
        case .time(let time)?: .time(time)
        }
        let progress = SharedProgress("restoring")
        do {
            _ = try AsyncWork.run { [restore] in try await restore.run(at: point) { progress.update($0.bytesDone, $0.bytesTotal) } }
        } catch var error as BackupError {
            // Older values are not taken for newer ones unless that is asked for.
            if let available = error.available { error.remedy = "`--at \(available)` takes the newest state before it that the backup has." }
            throw error
        }
        progress.finish()
    }
}
