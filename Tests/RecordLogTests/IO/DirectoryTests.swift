import Foundation
import HeartwoodPlatform
import HeartwoodTestSupport
import Synchronization
import Testing

@testable import RecordLog

/// Directories that cannot be opened when a file in them is to be renamed.
@Suite struct DirectoryTests {
    /// A system that has run out of descriptors for directories.
    private final class Exhausted: ForwardingFileSystem, @unchecked Sendable {
        let isExhausted = Atomic<Bool>(false)
        let renames = Atomic<Int>(0)

        init() { super.init(MemoryFileSystem()) }

        override func openDirectory(of path: String) throws(StoreError) -> any OpenDirectory {
            guard !isExhausted.load(ordering: .relaxed) else { throw StoreError.system("open", path, EMFILE) }
            return try super.openDirectory(of: path)
        }

        override func rename(_ old: String, to new: String) throws(StoreError) {
            renames.add(1, ordering: .relaxed)
            try super.rename(old, to: new)
        }
    }

    @Test
    func `Without a descriptor for its directory no file is renamed, and the store goes on`() throws {
        let files = Exhausted()
        let sample = try SampleStore(fileSystem: files) { $0.segmentShift = 16 }
        try sample.insert(.init(name: "a", age: 1, group: 1))
        files.isExhausted.store(true, ordering: .relaxed)
        let path = SampleStore.path
        #expect(#expect(throws: StoreError.self) { try sample.store.compact() }?.systemErrno == EMFILE)
        #expect(#expect(throws: StoreError.self) { try sample.store.copy(to: "copy", options: sample.options) }?.systemErrno == EMFILE)
        #expect(try files.identity(of: "copy") == nil)
        #expect(try files.identity(of: path + ".compacting") == nil)
        // The handle is not poisoned.
        try sample.insert(.init(name: "b", age: 2, group: 1))
        try sample.store.close()
        #expect(throws: StoreError.self) { try LogStore.exchange(path: path, options: sample.options) { "made" } }
        #expect(throws: StoreError.self) { try LogStore.rename(path, to: "other", replacing: false, options: sample.options) }
        #expect(throws: StoreError.self) { try LogStore.remove(path: path, options: sample.options) }
        #expect(files.renames.load(ordering: .relaxed) == 0)
        #expect(try files.identity(of: path) != nil)
        files.isExhausted.store(false, ordering: .relaxed)
        let store = try LogStore.open(path: path, options: sample.options)
        try sample.check(store.snapshot(), sample.people)
        try store.compact()
        #expect(files.renames.load(ordering: .relaxed) == 1)
    }
}
