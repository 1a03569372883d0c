import Foundation
import RecordLog
import RecordLogRows

/// A store with a table of names, in a folder of its own.
final class NamedStore {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-s3-\(UUID())").path
    private let store: LogStore
    var path: String { path("store.log") }
    var sequence: UInt64 { store.snapshot().sequence }

    /// The first commit makes the table.
    init() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        store = try LogStore.open(path: folder + "/store.log")
        _ = try store.write { try $0.defineTable(name: "names", columns: [("name", .text)]) }
    }

    deinit {
        try? store.close()
        try? FileManager.default.removeItem(atPath: folder)
    }

    func path(_ name: String) -> String { folder + "/" + name }

    /// A commit with one row.
    func commit(_ name: String) throws {
        let table = try store.snapshot().table(named: "names"), column = try table.column("name", as: String.self)
        _ = try store.write { try $0.insert(into: table) { try $0.set(column, to: name) } }
    }

    /// The rows of a store of this kind.
    static func names(_ path: String) throws -> [String] {
        let store = try LogStore.open(path: path)
        defer { try? store.close() }
        let snapshot = store.snapshot(), table = try snapshot.table(named: "names"), column = try table.column("name", as: String.self)
        var rows = snapshot.rows(in: table), names: [String] = []
        while let row = try rows.next() { names.append(try row[column]) }
        return names
    }

    func backUp(to destination: any BackupDestination) async throws -> StoreBackup.Report { try await StoreBackup(of: path, to: destination).run() }

    /// Restores into a file of its own.
    func restore(
        from destination: any BackupDestination, at point: StoreRestore.Point = .newest
    ) async throws -> (sequence: UInt64, names: [String]) {
        let restored = path("restored-\(UUID()).log")
        let report = try await StoreRestore(from: destination, to: restored).run(at: point)
        return (report.sequence, try Self.names(restored))
    }
}
