import Foundation
import Synchronization
import Testing

@testable import HeartwoodSQLiteBuilder
@testable import HeartwoodSQLiteFile

/// Files of which one call fails.
private final class FailingFiles: BuildFiles {
    /// Counts calls down; the one at 0 fails, and all after it.
    private let left: Mutex<Int>
    private let names = Mutex<[String]>([])

    init(failingAt call: Int) { left = Mutex(call) }

    /// The calls so far, if none fails.
    var calls: [String] { names.withLock { $0 } }

    fileprivate func count(_ name: String) throws(SQLiteBuildError) {
        names.withLock { $0.append(name) }
        let fails = left.withLock { left in
            left -= 1
            return left < 0
        }
        if fails { throw SQLiteBuildError(.noSpace, path: "failing", "\(name) fails", remedy: "None: this is a test.") }
    }

    func create(_ path: String) throws(SQLiteBuildError) -> any BuildFile {
        try count("create")
        return FailingFile(try POSIXBuildFiles().create(path), self)
    }

    func createTemporary(beside path: String) throws(SQLiteBuildError) -> any BuildFile {
        try count("createTemporary")
        return FailingFile(try POSIXBuildFiles().createTemporary(beside: path), self)
    }

    func syncFolder(of path: String) throws(SQLiteBuildError) {
        try count("syncFolder")
        try POSIXBuildFiles().syncFolder(of: path)
    }
}

private final class FailingFile: BuildFile {
    private let file: any BuildFile
    private let files: FailingFiles

    init(_ file: any BuildFile, _ files: FailingFiles) {
        self.file = file
        self.files = files
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SQLiteBuildError) {
        do throws(SQLiteBuildError) {
            try files.count("write")
        } catch {
            // A full disk takes a part.
            try file.write(UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count / 2)]), at: offset)
            throw error
        }
        try file.write(bytes, at: offset)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(SQLiteBuildError) -> Int {
        try files.count("read")
        return try file.read(into: buffer, at: offset)
    }

    func sync() throws(SQLiteBuildError) {
        try files.count("sync")
        try file.sync()
    }

    func close() { file.close() }
    func removeName() { file.removeName() }
}

@Suite struct FailureTests {
    /// Two tables in turns, with indexes that do not fit into the memory of the sorts.
    private static func build(_ path: String, _ files: FailingFiles) throws {
        let file = try SQLiteFileBuilder(path: path, options: SQLiteFileBuilder.Options(), files: files, sortMemory: 200_000, fanIn: 2)
        do {
            try fill(file)
            try file.finish()
        } catch {
            // Everything afterwards has the same error.
            #expect(throws: SQLiteBuildError.self) { try file.finish() }
            #expect(throws: SQLiteBuildError.self) { try file.statement(type: "view", named: "x", table: "x", sql: "CREATE VIEW x AS SELECT 1") }
            file.abandon()
            throw error
        }
    }

    private static func fill(_ file: SQLiteFileBuilder) throws {
        let tables = try (0..<2).map { number in
            let table = try file.table(named: "t\(number)", statement: "CREATE TABLE t\(number)(a, b)", columns: 2, rowidColumn: nil)
            let sql = "CREATE INDEX i\(number) ON t\(number)(b, a)"
            let columns = [SQLiteIndexColumn(1), SQLiteIndexColumn(0)]
            try file.index(named: "i\(number)", statement: sql, on: table, columns: columns, isUnique: number == 1)
            return table
        }
        for row in 0..<900 {
            let text = Value.text(String(repeating: "\(row * 7919 % 1000) ", count: 300))
            try tables[row % 2].append(Int64(row), [.integer(Int64(row)), text])
        }
    }

    @Test
    func `A failing call, each in turn, is the error of the build and leaves nothing behind`() throws {
        let whole = FailingFiles(failingAt: .max)
        try BuiltFile.withPath { path in
            try Self.build(path, whole)
            #expect(try BuiltFile.complaints(path) == "ok")
            #expect(try BuiltFile.names(beside: path) == ["built.sqlite"])
        }
        let calls = whole.calls
        #expect(Set(calls) == ["create", "createTemporary", "write", "read", "sync", "syncFolder"])
        #expect(calls.suffix(4) == ["sync", "write", "sync", "syncFolder"], "the first page is written behind the others, which are durable")
        for call in calls.indices {
            try BuiltFile.withPath { path in
                let error = #expect(throws: SQLiteBuildError.self) { try Self.build(path, FailingFiles(failingAt: call)) }
                #expect(error?.code == .noSpace && error?.message == "\(calls[call]) fails")
                let names = try BuiltFile.names(beside: path)
                #expect(names.isEmpty, "call \(call) of \(calls.count), \(calls[call])")
            }
        }
    }

    @Test
    func `Pages are written once, in large pieces, and sorts in memory need no file`() throws {
        let files = FailingFiles(failingAt: .max)
        try BuiltFile.withPath { path in
            let file = try SQLiteFileBuilder(path: path, options: SQLiteFileBuilder.Options(), files: files)
            try Self.fill(file)
            try file.finish()
            let size = try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
            let writes = files.calls.filter { $0 == "write" }.count
            #expect(writes <= (size + PageWriter.bufferSize - 1) / PageWriter.bufferSize + 1)
            #expect(!files.calls.contains("createTemporary") && !files.calls.contains("read"))
        }
    }

    @Test
    func `Something at the path, a missing folder, and a folder at the path are errors, and nothing is changed`() throws {
        try BuiltFile.withPath { path in
            func code(_ path: String) -> SQLiteBuildError.Code? {
                (#expect(throws: SQLiteBuildError.self) { _ = try SQLiteFileBuilder.create(path: path) })?.code
            }
            #expect(code(path + "/missing/file") == .noFolder)
            try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
            #expect(code(path) == .exists)
            #expect(code(path + "/file") == .noFolder)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
            #expect(code((path as NSString).deletingLastPathComponent) == .exists)
            try FileManager.default.createSymbolicLink(atPath: path + ".link", withDestinationPath: path + ".nowhere")
            #expect(code(path + ".link") == .exists)
            #expect(code(path + "\0x") == .io)
            #expect(try BuiltFile.names(beside: path).sorted() == ["built.sqlite", "built.sqlite.link"])
        }
    }

    @Test
    func `An abandoned builder, and one that is let go, remove their file; a finished one keeps it`() throws {
        try BuiltFile.withPath { path in
            var file: SQLiteFileBuilder? = try SQLiteFileBuilder.create(path: path)
            let table = try file?.table(named: "t", statement: "CREATE TABLE t(a)", columns: 1, rowidColumn: nil)
            try table?.append(1, [.null])
            file?.abandon()
            file?.abandon()
            #expect(try BuiltFile.names(beside: path).isEmpty)
            let error = #expect(throws: SQLiteBuildError.self) { try table?.append(2, [.null]) }
            #expect(error?.code == .closed)
            file = try SQLiteFileBuilder.create(path: path)
            #expect(try BuiltFile.names(beside: path) == ["built.sqlite"])
            file = nil
            #expect(try BuiltFile.names(beside: path).isEmpty)
            file = try SQLiteFileBuilder.create(path: path)
            try file?.finish()
            #expect((#expect(throws: SQLiteBuildError.self) { try file?.finish() })?.code == .closed)
            file?.abandon()
            file = nil
            #expect(try BuiltFile.names(beside: path) == ["built.sqlite"])
        }
    }

    @Test
    func `An abandoned builder leaves a file that another program has put in the place of its own`() throws {
        try BuiltFile.withPath { path in
            let file = try SQLiteFileBuilder.create(path: path)
            try FileManager.default.removeItem(atPath: path)
            try Data("other".utf8).write(to: URL(fileURLWithPath: path))
            file.abandon()
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "other")
        }
    }
}
