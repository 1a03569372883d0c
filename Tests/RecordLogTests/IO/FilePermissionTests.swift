import Foundation
import HeartwoodTestSupport
import Synchronization
import Testing

@testable import RecordLog

/// Files beside a store, or made from it, are readable only by those who may read the store.
@Suite struct FilePermissionTests {
    /// Records the permissions of files beside others when they are made and at each write.
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
    func `A file beside a store or made from it has its permissions from the beginning`(mode: Int) throws {
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

    @Test
    func `A copy that replaces a file keeps that file's permissions`() throws {
        try withDirectory { directory in
            let files = POSIXFileSystem(), other = directory + "/other"
            let sample = try SampleStore(fileSystem: files, path: directory + "/store")
            try SampleStore(fileSystem: files, path: other).store.close()
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: other)
            try sample.store.copy(to: other, options: sample.options, replacing: true)
            #expect(Self.permissions(other) == 0o600)
        }
    }

    @Test
    func `A rewritten archive has its permissions from the beginning`() throws {
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

    @Test
    func `Permissions that change while a store is compacted are those of the new file`() throws {
        try withDirectory { directory in
            let path = directory + "/store"
            let sample = try SampleStore(fileSystem: POSIXFileSystem(), path: path)
            try sample.insert(.init(name: "a", age: 1, group: 1))
            let old = try POSIXFileSystem().identity(of: path)
            try sample.store.compact { _ in
                try? FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
                return true
            }
            #expect(try POSIXFileSystem().identity(of: path) != old)
            #expect(Self.permissions(path) == 0o600)
        }
    }

    @Test
    func `A renamed file gets the permissions, owner and group of the one that it replaces`() throws {
        try withDirectory { directory in
            let old = directory + "/old", new = directory + "/new"
            for path in [old, new] { try Data(path.utf8).write(to: URL(fileURLWithPath: path)) }
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: old)
            if geteuid() == 0 {
                try FileManager.default.setAttributes([.ownerAccountID: 4711, .groupOwnerAccountID: 4712], ofItemAtPath: old)
            } else {
                print("Not root: owners are not tested, only permissions.")
            }
            let before = try POSIXFileSystem().open(old, .readOnly).attributes()
            try LogStore.rename(new, to: old, replacing: true)
            #expect(try POSIXFileSystem().open(old, .readOnly).attributes() == before)
            #expect(try String(contentsOfFile: old, encoding: .utf8) == new)
        }
    }

    #if os(Linux)
        @Test
        func `A renamed file gets the access control list of the one that it replaces, and loses its own`() throws {
            try withDirectory { directory in
                let listed = directory + "/listed", plain = directory + "/plain"
                // Version 2, then a tag, permissions and an identity for each entry: user::rw-, user:1337:r--, group::---, mask::r--, other::---
                let list: [UInt8] = [2, 0, 0, 0, 1, 0, 6, 0, 255, 255, 255, 255, 2, 0, 4, 0, 57, 5, 0, 0, 4, 0, 0, 0, 255, 255, 255, 255,
                    16, 0, 4, 0, 255, 255, 255, 255, 32, 0, 0, 0, 255, 255, 255, 255]
                func make(_ path: String, _ list: [UInt8]?) throws -> Bool {
                    try Data(path.utf8).write(to: URL(fileURLWithPath: path))
                    guard let list else { return true }
                    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
                    return AccessList.write(list, file.fileDescriptor)
                }
                guard try make(listed, list) else { return print("The file system keeps no access control lists: not tested.") }
                _ = try make(plain, nil)
                try LogStore.rename(plain, to: listed, replacing: true)
                let kept = try #require(try POSIXFileSystem().open(listed, .readOnly).attributes())
                #expect(kept.accessList == list && kept.permissions == 0o640)
                _ = try make(plain, nil)
                try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: plain)
                try LogStore.rename(listed, to: plain, replacing: true)
                let lost = try #require(try POSIXFileSystem().open(plain, .readOnly).attributes())
                #expect(lost.accessList == nil && lost.permissions == 0o640)
            }
        }
    #endif

    @Test
    func `A file of another group is not for that one because it was for the old one's`() {
        let attributes = FileAttributes(permissions: 0o6664, owner: 1, group: 2)
        #expect(attributes.narrowed(keepsOwner: true, keepsGroup: true) == 0o6664)
        #expect(attributes.narrowed(keepsOwner: false, keepsGroup: true) == 0o664)
        #expect(attributes.narrowed(keepsOwner: false, keepsGroup: false) == 0o644)
        #expect(FileAttributes(permissions: 0o660, owner: 1, group: 2).narrowed(keepsOwner: true, keepsGroup: false) == 0o600)
    }

    private enum Squatter: CaseIterable { case linkToNothing, linkToFile, letter, directory }

    @Test(arguments: ["compacting", "scratch", "saving", "salvaging"])
    func `Another program's file at a temporary file's path is refused, and stays`(suffix: String) throws {
        for squatter in Squatter.allCases {
            try withDirectory { directory in
                let files = FileManager.default, path = directory + "/store", taken = path + "." + suffix, letter = directory + "/letter"
                try Data("a letter".utf8).write(to: URL(fileURLWithPath: letter))
                let sample = try SampleStore(fileSystem: POSIXFileSystem(), path: path)
                try sample.insert(.init(name: "a", age: 1, group: 1))
                switch squatter {
                case .linkToNothing: try files.createSymbolicLink(atPath: taken, withDestinationPath: directory + "/nothing")
                case .linkToFile: try files.createSymbolicLink(atPath: taken, withDestinationPath: letter)
                case .letter: try files.copyItem(atPath: letter, toPath: taken)
                case .directory: try files.createDirectory(atPath: taken, withIntermediateDirectories: false)
                }
                let kind = try files.attributesOfItem(atPath: taken)[.type] as? FileAttributeType
                let names = try files.contentsOfDirectory(atPath: directory).sorted()
                let error = #expect(throws: (any Error).self, "\(squatter)") {
                    switch suffix {
                    case "compacting": try sample.store.compact()
                    case "scratch": _ = try ScratchFile(besides: sample.store.snapshot().file, sample.options)
                    case "saving":
                        let archive = directory + "/archive"
                        try files.moveItem(atPath: taken, toPath: archive + ".saving")
                        defer {
                            try? files.moveItem(atPath: archive + ".saving", toPath: taken)
                            try? files.removeItem(atPath: archive)
                        }
                        let saved = ArchiveFile(path: archive, options: sample.options)
                        try saved.withLock(isCreating: true) { try saved.replace { try $0.append(bytes: [1]) } }
                    default:
                        let target = directory + "/new"
                        try files.moveItem(atPath: taken, toPath: target + ".salvaging")
                        defer { try? files.moveItem(atPath: target + ".salvaging", toPath: taken) }
                        _ = try StoreSalvage.salvage(path: path, to: target, options: sample.options)
                    }
                }
                let found = try #require(error as? StoreError)
                #expect(found.code == .exists && found.path.hasSuffix("." + suffix), "\(squatter): \(found)")
                #expect(try files.attributesOfItem(atPath: taken)[.type] as? FileAttributeType == kind)
                #expect(try files.contentsOfDirectory(atPath: directory).sorted() == names)
                #expect(try String(contentsOfFile: letter, encoding: .utf8) == "a letter")
            }
        }
    }
}
