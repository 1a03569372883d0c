import Foundation
import Testing

@testable import HeartwoodSQLiteFile

/// Databases that other programs made.
@Suite struct SharedStoreTests {
    private static let folder = Databases.folder.appendingPathComponent("../../../shared/stores").standardized
    private static let isThere = FileManager.default.fileExists(atPath: folder.path)

    /// The files that begin as databases do.
    private static var stores: [URL] {
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []
        return paths.sorted().map(folder.appendingPathComponent).filter { url in
            let start = try? FileHandle(forReadingFrom: url).read(upToCount: 16)
            return start == Data("SQLite format 3\0".utf8)
        }
    }

    @Test(.enabled(if: isThere, "../shared/stores is absent"), .enabled(if: Databases.canBeMade, Databases.needPython))
    func `Stores of other programs have the rows that SQLite reads`() throws {
        #expect(Self.stores.count > 10)
        for store in Self.stores {
            try Databases.inDirectory { directory in
                let copy = directory.appendingPathComponent("store")
                for part in ["", "-wal"] where FileManager.default.fileExists(atPath: store.path + part) {
                    try Data(contentsOf: URL(fileURLWithPath: store.path + part)).write(to: URL(fileURLWithPath: copy.path + part))
                }
                let file = try SQLiteFile.open(path: store.path)
                let text = try file.read { try Dump.text(file) }
                #expect(Dump.difference(text, try Databases.make(["dump", copy.path])) == nil, "\(store.lastPathComponent)")
                for entry in file.schema.tables {
                    let table = try file.table(named: entry.name)
                    if table.hasRowids { #expect(try table.rows().isRising(to: table.greatestRowid(), count: table.rowCount())) }
                }
                try Self.checkIndexes(file)
            }
        }
    }

    /// An index that leaves out no row has an entry for each.
    private static func checkIndexes(_ file: SQLiteFile) throws {
        for entry in file.schema.entries where entry.kind == .index {
            let index = try file.index(named: entry.name)
            guard !index.isPartial else { continue }
            #expect(try index.entryCount() == file.table(named: entry.tableName).rowCount(), "\(entry.name)")
        }
    }
}

extension SQLiteTableCursor {
    /// Whether a walk ends at the greatest rowid and meets as many rows as are counted.
    fileprivate consuming func isRising(to last: Int64?, count: Int) throws -> Bool {
        var cursor = self, met = 0, rowid: Int64?
        while try cursor.next() {
            met += 1
            rowid = cursor.row.rowid
        }
        return rowid == last && met == count
    }
}
