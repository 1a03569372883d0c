import Foundation
import Heartwood
internal import HeartwoodSQLiteFile
import RecordLog

/// Converts an SQLite store in its own place: its URL gets the new store, and the old one another name, `App.sqlite-original` for `App.sqlite`.
///
/// SQLite and Core Data open the old store by that name as before: the names of its log and of its directory of external data follow from it,
/// `App.sqlite-original-wal` and `.App_SUPPORT`. If the name is taken, `App.sqlite-original-2` and so on.
///
/// Crash points, in this order. The next opening of the URL finishes or begins again:
/// (1) The new store is written in a folder beside the URL. The old store is at the URL, and the next conversion removes the folder.
/// (2) The old store's files have second names, first the log and then the file. The old store is at the URL. The next conversion finds these names
///     by the files that they lead to, and uses them again.
/// (3) The new store has taken the URL. The old one is whole under its second name. Its log's first name is left, and harmless: no record log
///     reads it, and it belongs to the old store if somebody puts that back.
/// (4) The first names of the old store's log are removed.
struct SQLiteExchange {
    /// Numbers of the crash points, for tests.
    enum Step: Int, CaseIterable { case written = 1, named, exchanged, removed }

    let conversion: SQLiteConversion
    /// Called at each crash point.
    var reached: (Step) throws -> Void = { _ in }

    private var url: URL { conversion.source }

    /// The files that SQLite keeps beside a database: its log and its journal. The index of the log is made anew by each program.
    private static let companions = ["-wal", "-journal"]
    private static let namesMax = 1000

    @discardableResult
    func run() throws -> ConversionReport {
        try conversion.withFolder(besides: url) { folder in
            let (report, file) = try conversion.complete(folder)
            try reached(.written)
            let original = try freeName()
            for suffix in Self.companions + [""] { try name(url.path + suffix, original.path + suffix, folder) }
            try reached(.named)
            // A commit since the state that was read would be lost.
            do throws(SQLiteFileError) {
                try file.checkUnchanged()
            } catch {
                throw CoreDataFileError.wrap(error, opening: true)
            }
            try LogStore.rename(folder.file.path, to: url.path, replacing: true)
            SQLiteConversion.allowWriting(url)
            try reached(.exchanged)
            for suffix in Self.companions + ["-shm"] { try? FileManager.default.removeItem(atPath: url.path + suffix) }
            try reached(.removed)
            return report
        }
    }

    /// The first name like `App.sqlite-original` that is free, or that a conversion before has given to this file.
    private func freeName() throws -> URL {
        for number in 1...Self.namesMax {
            let path = url.path + "-original" + (number == 1 ? "" : "-\(number)")
            if (Self.companions + [""]).allSatisfy({ isFree(path + $0, for: url.path + $0) }) { return URL(fileURLWithPath: path) }
        }
        throw SQLiteConversionError.inTheWay(url.path + "-original")
    }

    private func isFree(_ path: String, for file: String) -> Bool {
        guard let there = try? FileManager.default.attributesOfItem(atPath: path) else { return true }
        return isSame(there, try? FileManager.default.attributesOfItem(atPath: file))
    }

    private func isSame(_ a: [FileAttributeKey: Any]?, _ b: [FileAttributeKey: Any]?) -> Bool {
        guard let first = a?[.systemFileNumber] as? NSNumber, let second = b?[.systemFileNumber] as? NSNumber else { return false }
        return first == second
    }

    /// Gives a file a second name; where the file system has no links, a copy gets the name once it is complete.
    private func name(_ file: String, _ second: String, _ folder: MigrationFolder) throws {
        let files = FileManager.default
        guard files.fileExists(atPath: file), !files.fileExists(atPath: second) else { return }
        if (try? files.linkItem(atPath: file, toPath: second)) != nil { return }
        let copy = folder.file.path + "-copy"
        try files.copyItem(atPath: file, toPath: copy)
        try LogStore.rename(copy, to: second, replacing: false, like: file)
    }
}
