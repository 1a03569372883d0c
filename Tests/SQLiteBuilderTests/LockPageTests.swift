import Foundation
import Testing

@testable import HeartwoodSQLiteBuilder
@testable import HeartwoodSQLiteFile

/// The page of the locks, at one GiB of the file.
@Suite struct LockPageTests {
    /// A file that keeps no bytes but those of the lock page.
    private final class NoFile: BuildFile {
        let lockOffset = UInt64(PageFormat.lockByte)
        private(set) var lockBytes: [UInt8] = []
        private(set) var end: UInt64 = 0

        func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) {
            end = max(end, offset + UInt64(bytes.count))
            guard offset <= lockOffset, lockOffset < offset + UInt64(bytes.count) else { return }
            lockBytes = Array(bytes[Int(lockOffset - offset)...].prefix(512))
        }

        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int { 0 }
        func sync() {}
        func close() {}
        func removeName() {}
    }

    @Test(arguments: [8192, 32768, 65536])
    func `The page of the locks gets no number, is filled with zeroes, and is there only if a page follows`(pageSize: Int) throws {
        let lockPage = PageFormat.lockPage(pageSize), file = NoFile()
        let pages = PageWriter(path: "none", file: file, pageSize: pageSize)
        func append() throws -> UInt32 {
            let number = pages.nextNumber
            try pages.append().initializeMemory(as: UInt8.self, repeating: 7, count: 512)
            return number
        }
        for expected in 2..<lockPage {
            let number = try append()
            if number != expected { Issue.record("page \(number) instead of \(expected)") }
        }
        #expect(pages.count == lockPage - 1)
        #expect(pages.nextNumber == lockPage + 1)
        #expect(try append() == lockPage + 1)
        #expect(try append() == lockPage + 2)
        #expect(pages.count == lockPage + 2)
        let first = UnsafeMutableRawPointer.allocate(byteCount: pageSize, alignment: 16)
        defer { first.deallocate() }
        first.initializeMemory(as: UInt8.self, repeating: 1, count: pageSize)
        try pages.finish(firstPage: first)
        #expect(file.lockBytes == [UInt8](repeating: 0, count: 512))
        #expect(file.end == UInt64(pages.count) * UInt64(pageSize))
    }

    /// Writes no zeroes, so that a large file takes little of the disk.
    private struct SparseFiles: BuildFiles {
        func create(_ path: String) throws(SQLiteBuildError) -> any BuildFile { SparseFile(try POSIXBuildFiles().create(path)) }

        func createTemporary(beside path: String) throws(SQLiteBuildError) -> any BuildFile {
            try POSIXBuildFiles().createTemporary(beside: path)
        }

        func syncFolder(of path: String) throws(SQLiteBuildError) { try POSIXBuildFiles().syncFolder(of: path) }
    }

    private final class SparseFile: BuildFile {
        private let file: any BuildFile
        private let zeroes = [UInt8](repeating: 0, count: 4096)

        init(_ file: any BuildFile) { self.file = file }

        func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SQLiteBuildError) {
            for start in stride(from: 0, to: bytes.count, by: zeroes.count) {
                let block = UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + zeroes.count, bytes.count)])
                let isLast = start + zeroes.count >= bytes.count
                if !isLast, zeroes.withUnsafeBytes({ memcmp($0.baseAddress!, block.baseAddress!, block.count) }) == 0 { continue }
                try file.write(block, at: offset + UInt64(start))
            }
        }

        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(SQLiteBuildError) -> Int {
            try file.read(into: buffer, at: offset)
        }

        func sync() throws(SQLiteBuildError) { try file.sync() }
        func close() { file.close() }
        func removeName() { file.removeName() }
    }

    @Test
    func `A file of more than one GiB has no content in the page of the locks`() throws {
        try BuiltFile.withPath { path in
            var options = SQLiteFileBuilder.Options()
            options.pageSize = 65536
            let file = try SQLiteFileBuilder(path: path, options: options, files: SparseFiles())
            let table = try file.table(named: "t", statement: "CREATE TABLE t(a TEXT, b BLOB)", columns: 2, rowidColumn: nil)
            try file.index(named: "t_a", statement: "CREATE INDEX t_a ON t(a)", on: table, columns: [SQLiteIndexColumn(0)], isUnique: false)
            let blob = try #require(calloc(1, 50 << 20))
            defer { free(blob) }
            for row in 0..<22 {
                try table.append(rowid: Int64(row)) { writer in
                    writer.text("row \(100 - row)")
                    writer.blob(UnsafeRawBufferPointer(start: blob, count: 50 << 20))
                }
            }
            try file.finish()
            let reader = try SQLiteFile.open(path: path)
            #expect(reader.pageCount > PageFormat.lockPage(65536))
            #expect(try BuiltFile.rowids(path, "t_a") == [0] + (1..<22).reversed().map { Int64($0) })
            try reader.table(named: "t").forEachRow { row in
                let size = try row.blob(1)?.count, text = try row.string(0)
                #expect(size == 50 << 20 && text == "row \(100 - row.rowid)")
                return true
            }
            #expect(try BuiltFile.complaints(path) == "ok")
        }
    }
}
