import Foundation
import Heartwood
internal import HeartwoodSQLiteFile

/// Files of Core Data's, as tools tell them from record logs.
package enum CoreDataFile {
    /// The advice for a command that cannot change such a file.
    package static let conversion = CoreDataFileError.conversion

    /// Whether a file is a database of SQLite by its first bytes, or looks like an encrypted one.
    package static func isDatabase(_ url: URL) -> Bool {
        let path = url.resolvingSymlinksInPath().path
        return DatabaseHeader.isPossible(start(of: path), fileSize: size(of: path))
    }

    /// Whether a file is a database of SQLite by its first bytes.
    static func isClearDatabase(_ url: URL) -> Bool { DatabaseHeader.isClear(start(of: url.resolvingSymlinksInPath().path)) }

    /// The first bytes of a regular file; none of another one: a pipe would lose them.
    private static func start(of path: String) -> [UInt8] {
        guard attributes(of: path)[.type] as? FileAttributeType == .typeRegular, let handle = FileHandle(forReadingAtPath: path) else { return [] }
        defer { try? handle.close() }
        return (try? handle.read(upToCount: 1024)).map(Array.init) ?? []
    }

    /// In bytes; 0 if there is no such file.
    static func size(of path: String) -> UInt64 { (attributes(of: path)[.size] as? NSNumber)?.uint64Value ?? 0 }

    private static func attributes(of path: String) -> [FileAttributeKey: Any] {
        (try? FileManager.default.attributesOfItem(atPath: URL(fileURLWithPath: path).resolvingSymlinksInPath().path)) ?? [:]
    }

    /// Whether an error says that a file is no store of Core Data's, and not that a store is damaged.
    package static func saysNoStore(_ error: NSError) -> Bool {
        if let file = error.userInfo[NSUnderlyingErrorKey] as? SQLiteFileError {
            return [.notFound, .notADatabase, .encrypted, .tooShort, .unsupportedVersion].contains(file.code)
        }
        return error.userInfo[CoreDataFileError.tablesKey] != nil
    }
}
