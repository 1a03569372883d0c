import Foundation
import Heartwood
internal import HeartwoodFileReading
internal import HeartwoodSQLiteFile
import Synchronization

/// The row of `Z_METADATA`. Its property list is decoded at the first access: the first list that Foundation decodes in a process costs more than the
/// rest of the opening, which needs the identifier alone.
final class CoreDataMetadata: Sendable {
    let identifier: String
    private let state: Mutex<State>

    private struct State: @unchecked Sendable {
        // Unchecked: the values are property lists, which do not change.
        /// Empty once they are decoded.
        var bytes: [UInt8]
        var values: [String: Any] = [:]
    }

    static let copyAdvice = "Copy the store again together with the file that has its name and ends in -wal."

    /// In bytes. A real store has a few kilobytes.
    private static let bytesMax = 64 << 20

    /// - Throws: 259 for a list that is none, and for a store without an identifier.
    init(_ file: SQLiteFile) throws {
        let table = try file.table(named: "Z_METADATA")
        let columns = ["Z_UUID", "Z_PLIST"].map(table.index(ofColumn:))
        var identifier: String?, bytes: [UInt8] = []
        try table.forEachRow { row in
            identifier = try columns[0].flatMap { try row.string($0) }
            if let list = try columns[1].flatMap({ try row.blob($0) }) {
                guard list.count <= Self.bytesMax else { throw Self.isNoList(file) }
                bytes = Array(list)
            }
            return false
        }
        guard bytes.isEmpty || (try? BinaryPropertyList(bytes).checkShape()) != nil else { throw Self.isNoList(file) }
        var state = State(bytes: bytes)
        if identifier == nil { state = State(bytes: [], values: try Self.decoded(bytes, file)) }
        guard let found = identifier ?? state.values[NSStoreUUIDKey] as? String, !found.isEmpty else {
            let message = "the table Z_METADATA has no store identifier"
            guard let log = file.logFacts, log.commits > 0 else { throw CoreDataFileError.damaged(file.path, message) }
            throw CoreDataFileError.damaged(
                file.path, message + "; the write-ahead log beside the file may belong to another store", remedy: Self.copyAdvice)
        }
        self.identifier = found
        self.state = Mutex(state)
    }

    private static func isNoList(_ file: SQLiteFile) -> NSError {
        CoreDataFileError.damaged(file.path, "the column Z_PLIST of Z_METADATA is no property list")
    }

    private static func decoded(_ bytes: [UInt8], _ file: SQLiteFile) throws -> [String: Any] {
        guard !bytes.isEmpty else { return [:] }
        guard let list = try? RecordLogMetadata.decode(Data(bytes)) else { throw isNoList(file) }
        return list
    }

    /// The list, with the identifier and the type, which may lie outside of it.
    var values: [String: Any] {
        var values = state.withLock { state in
            if !state.bytes.isEmpty {
                // A list of a good shape that Foundation refuses all the same counts as empty.
                state.values = (try? RecordLogMetadata.decode(Data(state.bytes))) ?? [:]
                state.bytes = []
            }
            return state
        }.values
        values[NSStoreUUIDKey] = identifier
        values[NSStoreTypeKey] = values[NSStoreTypeKey] ?? CoreDataContents.storeType
        return values
    }
}
