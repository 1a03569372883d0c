import Foundation
import Heartwood
import RecordLog

/// The store of the past from which objects are taken: a store as of a commit, or its backup.
struct PickSource {
    private let path: String
    private let past: PastCommit?
    private let lineage: StoredUUID?

    /// - Parameters:
    ///   - path: a store's file, or the directory of a backup.
    ///   - past: nil for the newest commit.
    ///   - lineage: of a backup; nil for the line with the newest commit.
    init(_ path: String, at past: PastCommit?, lineage: StoredUUID?) {
        self.path = path
        self.past = past
        self.lineage = lineage
    }

    /// Calls `body` with the opened store, and with the lines of commits that a backup knows, each with the line that it left. A backup is
    /// restored to a temporary file first, which needs as much space as the store.
    func with<Result>(like store: String, _ body: (OpenStore, [StoredUUID: Lineage]) throws -> Result) throws -> Result {
        guard path.contains("://") || FileKind.isDirectory(path) else {
            guard lineage == nil else { throw ToolError.usage("--lineage is for backups, and \(path) is no directory") }
            let open = try OpenStore(path: path, isReadOnly: true, at: past)
            defer { try? open.close() }
            return try body(open, [:])
        }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-cherry-pick-\(UUID().uuidString)")
        // A private store's rows are for its owner only.
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        let restored = folder.appendingPathComponent("past.heartwood").path
        let identity = try identity(of: store)
        try restore(to: restored, identity)
        let archives = BackupArchives(at: try BackupText.destination(path))
        let lines = try AsyncWork.run { try await archives.list() }.filter { $0.storeID == identity }
        let open = try OpenStore(path: restored, isReadOnly: true)
        defer { try? open.close() }
        return try body(open, Dictionary(lines.map { ($0.lineage, Lineage($0)) }, uniquingKeysWith: { first, _ in first }))
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
        restore.lineage = lineage
        let point: StoreRestore.Point = switch past {
        case nil: .newest
        case .number(let number)?: .commit(number)
        case .time(let time)?: .time(time)
        }
        let progress = SharedProgress("restoring")
        do {
            let report = try AsyncWork.run { [restore] in try await restore.run(at: point) { progress.update($0.bytesDone, $0.bytesTotal) } }
            Output.line("from commit \(BackupText.number(report.sequence)) of lineage \(report.source)")
        } catch var error as BackupError {
            // Older values are not taken for newer ones unless that is asked for.
            if let available = error.available { error.remedy = "`--at \(available)` takes the newest state before it that the backup has." }
            throw error
        }
        progress.finish()
    }
}
