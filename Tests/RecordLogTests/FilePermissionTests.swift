import Foundation
import Synchronization
import TestSupport
import Testing

@testable import RecordLog

/// Files that stand beside a store, or are made of one, are for nobody whom the store is not for.
@Suite struct FilePermissionTests {
    /// Remembers the permissions of files beside others, as they are made and whenever they are written to.
    private final class Directory: ForwardingFileSystem, @unchecked Sendable {
        let seen = Mutex<[String: Set<Int>]>([:])

        init() { super.init(POSIXFileSystem()) }

        override func open(_ path: String, _ mode: OpenMode) throws(StoreError) -> any StorageFile {
            let file = try super.open(path, mode)
            guard mode.creates else { return file }
            note(path)
            return File(file, path, self)
        }

        override func remove(_ path: String) throws(StoreError) {
            note(path)
            try super.remove(path)
        }

        func note(_ path: String) {
            guard let permissions = FilePermissionTests.permissions(path) else { return }
            _ = seen.withLock { $0[(path as NSString).lastPathComponent, default: []].insert(permissions) }
        }

        private final class File: ForwardingFile, @unchecked Sendable {
            private let path: String
            private let directory: Directory

            init(_ file: any StorageFile, _ path: String, _ directory: Directory) {
                self.path = path
                self.directory = directory
                super.init(file)
            }

            override func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
                directory.note(path)
                try super.write(bytes, at: offset)
            }
        }
    }

    private static func permissions(_ path: String) -> Int? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.posixPermissions] as? Int
    }

    private func withDirectory(_ body: (String) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("permissions-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try body(directory.path)
    }

    @Test(arguments: [0o600, 0o640, 0o664])
    func whatStandsBesideAStoreOrIsMadeOfItHasItsPermissionsFromTheBeginning(mode: Int) throws {
        try withDirectory { directory in
            let path = directory + "/store", files = Directory()
            let sample = try SampleStore(fileSystem: files, path: path) { $0.indexMemory = 300 }
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            try sample.store.write { transaction in
                for number in 0..<100 as Range<Int64> {
                    try sample.put(transaction, try transaction.newRow(in: sample.table.id), .init(name: "\(number)", age: number, group: 1))
                }
            }
            try sample.store.compact()
            try sample.store.copy(to: directory + "/copy", options: sample.options)
            try sample.store.close()
            _ = try StoreSalvage.salvage(path: path, to: directory + "/salvaged", options: sample.options)
            for name in ["store", "copy", "salvaged"] { #expect(Self.permissions(directory + "/" + name) == mode, "\(name)") }
            let beside = files.seen.withLock { $0 }.filter { $0.key != "store" }
            #expect(beside.keys.contains("store.scratch") && beside.keys.contains("store.compacting") && beside.count >= 4, "\(beside)")
            for (name, seen) in beside { #expect(seen.isSubset(of: [0o600, mode]), "\(name): \(seen)") }
        }
    }

    @Test func aCopyThatReplacesAFileKeepsThatOnesPermissions() throws {
        try withDirectory { directory in
            let files = POSIXFileSystem(), other = directory + "/other"
            let sample = try SampleStore(fileSystem: files, path: directory + "/store")
            try SampleStore(fileSystem: files, path: other).store.close()
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: other)
            try sample.store.copy(to: other, options: sample.options, replacing: true)
            #expect(Self.permissions(other) == 0o600)
        }
    }

    @Test func anArchiveIsWrittenAnewForNobodyElse() throws {
        try withDirectory { directory in
            let path = directory + "/archive", files = Directory()
            var options = StoreOptions()
            options.fileSystem = files
            let archive = ArchiveFile(path: path, options: options)
            try archive.withLock(isCreating: true) { try archive.replace { try $0.append(bytes: [1, 2, 3]) } }
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            files.seen.withLock { $0 = [:] }
            try archive.withLock { try archive.replace { try $0.append(bytes: [4]) } }
            #expect(Self.permissions(path) == 0o600)
            #expect(files.seen.withLock { $0["archive.saving"] } == [0o600])
        }
    }
}
