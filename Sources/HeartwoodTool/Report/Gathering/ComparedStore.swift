import Foundation
import Heartwood
import HeartwoodSQLite
import RecordLog

/// A state of a store that a report compares with another. A Core Data store is converted into a temporary record log, whose objects keep their
/// numbers, so that one comparison serves both.
struct ComparedStore {
    /// A larger Core Data store is not converted.
    private static let convertedBytesMax: UInt64 = 256 << 20

    let path: String
    /// For a Core Data store.
    let modelFile: String?
    let past: PastCommit?

    /// - Throws: also the errors of `body`.
    func withOpen<Result>(_ body: (OpenStore) throws -> Result) throws -> Result {
        guard CoreDataStore.isOne(path) else { return try body(try OpenStore(path: path, isReadOnly: true, at: past)) }
        try PastOption.refuse(past)
        guard FileKind.size(path) ?? 0 <= Self.convertedBytesMax else {
            throw ToolError.usage("\(path) is too large to be compared as it is; \(CoreDataStore.conversion(path))")
        }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-report-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let model = try modelFile.map { (model: try LoadedModel(path: $0).model, file: URL(fileURLWithPath: $0)) }
        let file = folder.appendingPathComponent("store")
        _ = try SQLiteConversion(URL(fileURLWithPath: path), model: model, keepsHistory: false).run(to: file)
        return try body(try OpenStore(path: file.path, isReadOnly: true))
    }
}
