import Foundation
import HeartwoodTestSupport
import Testing

@testable import RecordLog

@Suite struct StoreRemovalTests {
    private func options(_ disk: any FileSystem) -> StoreOptions {
        var options = StoreOptions()
        options.fileSystem = disk
        return options
    }

    @Test
    func `A store is removed once no handle writes to it`() throws {
        let sample = try SampleStore(), disk = sample.fileSystem, options = options(disk)
        try sample.insert(.init(name: "a", age: 1, group: 1))
        let error = #expect(throws: StoreError.self) { try LogStore.remove(path: SampleStore.path, options: options) }
        #expect(error?.code == .locked && error?.message.contains("open for writing in this process") == true)
        try sample.check(try sample.store.refresh(), sample.people)
        #expect(try disk.identity(of: SampleStore.path + CompactionFile.suffix) == nil)
        let snapshot = sample.store.snapshot()
        try sample.store.close()
        // Files that crashes left.
        _ = try disk.open(SampleStore.path + CompactionFile.suffix, .create)
        _ = try disk.open(SampleStore.path + ScratchFile.suffix, .create)
        try LogStore.remove(path: SampleStore.path, options: options)
        for suffix in ["", CompactionFile.suffix, ScratchFile.suffix] { #expect(try disk.identity(of: SampleStore.path + suffix) == nil) }
        try sample.check(snapshot, sample.people)
        try LogStore.remove(path: SampleStore.path, options: options)
    }

    @Test
    func `Another file is left alone`() throws {
        let memory = MemoryFileSystem()
        memory.setContents(of: "letter", to: Array("Dear all".utf8))
        let error = #expect(throws: StoreError.self) { try LogStore.remove(path: "letter", options: options(memory)) }
        #expect(error?.code == .notAStore && memory.contents(of: "letter") == Array("Dear all".utf8))
        let path = FileManager.default.temporaryDirectory.path
        #expect(throws: StoreError.self) { try LogStore.remove(path: path) }
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test
    func `A crash leaves all or nothing`() throws {
        for operation in 0...6 {
            let disk = SimulatedFileSystem()
            let sample = try SampleStore(fileSystem: disk)
            try sample.insert(.init(name: "a", age: 1, group: 1))
            try sample.store.close()
            disk.fail(at: disk.operationCount + operation)
            let isDone = (try? LogStore.remove(path: SampleStore.path, options: options(disk))) != nil
            let image = disk.afterPowerLoss(seed: UInt64(operation) + 1)
            guard try image.identity(of: SampleStore.path) != nil else { continue }
            #expect(!isDone)
            let left = try SampleStore(fileSystem: image)
            try left.check(left.store.snapshot(), sample.people)
        }
    }

    @Test
    func `A crash leaves the store or nothing of it`() throws {
        for operation in 0...8 {
            let disk = SimulatedFileSystem()
            let sample = try SampleStore(fileSystem: disk)
            try sample.insert(.init(name: "a", age: 1, group: 1))
            try sample.store.close()
            disk.fail(at: disk.operationCount + operation)
            let isDone = (try? LogStore.remove(path: SampleStore.path, options: options(disk), leavesEmptyFile: true)) != nil
            let image = disk.afterPowerLoss(seed: UInt64(operation) + 1)
            guard try image.identity(of: SampleStore.path) != nil else { continue }
            let left = try LogStore.open(path: SampleStore.path, options: options(image))
            #expect(left.snapshot().sequence == 0 || !isDone, "a store that is not whole would not open")
        }
    }

    @Test
    func `An empty file replaces the removed store`() throws {
        let sample = try SampleStore(), disk = sample.fileSystem, options = options(disk)
        try sample.insert(.init(name: "a", age: 1, group: 1))
        try sample.store.close()
        try LogStore.remove(path: SampleStore.path, options: options, leavesEmptyFile: true)
        #expect(try disk.open(SampleStore.path, .readOnly).size() == 0)
        try LogStore.remove(path: SampleStore.path, options: options, leavesEmptyFile: true)
        #expect(try LogStore.open(path: SampleStore.path, options: options).snapshot().sequence == 0)
    }

    @Test
    func `Descriptors for writing are recognized`() {
        #expect(OpenFiles.isForWriting(Array("pos:\t0\nflags:\t0100002\nmnt_id:\t29\n".utf8)))
        #expect(OpenFiles.isForWriting(Array("flags:\t01\n".utf8)))
        #expect(!OpenFiles.isForWriting(Array("pos:\t0\nflags:\t0100000\n".utf8)))
        #expect(!OpenFiles.isForWriting(Array("nonsense".utf8)) && !OpenFiles.isForWriting([]))
    }

    #if os(Linux)
        @Test
        func `The error names another process that writes`() throws {
            let path = FileManager.default.temporaryDirectory.appendingPathComponent("removal-\(UUID().uuidString).heartwood").path
            defer { try? FileManager.default.removeItem(atPath: path) }
            let sample = try SampleStore(fileSystem: POSIXFileSystem(), path: path)
            try sample.store.close()
            let process = ChildProcess(), input = Pipe(), output = Pipe()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", "exec 3<>\"$0\"; echo open; read line", path]
            process.standardInput = input
            process.standardOutput = output
            try process.run()
            _ = try output.fileHandleForReading.read(upToCount: 5)
            let error = #expect(throws: StoreError.self) { try LogStore.remove(path: path) }
            #expect(error?.code == .locked && error?.message.contains("process \(process.processIdentifier)") == true)
            try input.fileHandleForWriting.close()
            process.waitUntilExit()
            try LogStore.remove(path: path)
            #expect(!FileManager.default.fileExists(atPath: path))
        }

        @Test
        func `A handle reports its file's location`() throws {
            let directory = FileManager.default.temporaryDirectory.appendingPathComponent("location-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: directory) }
            let path = directory.appendingPathComponent("a.heartwood").path, moved = directory.appendingPathComponent("b.heartwood").path
            let sample = try SampleStore(fileSystem: POSIXFileSystem(), path: path)
            try sample.insert(.init(name: "a", age: 1, group: 1))
            #expect(try sample.store.locate() == .inPlace)
            _ = try sample.store.compact()
            let second = try LogStore.open(path: path)
            _ = try second.compact()
            #expect(try sample.store.locate() == .inPlace, "a compaction's file is the store's own")
            try LogStore.rename(path, to: moved, replacing: false)
            let real = try POSIXFileSystem().resolved(moved)
            #expect(try sample.store.locate() == .moved(to: real))
            let other = try SampleStore(fileSystem: POSIXFileSystem(), path: path)
            #expect(try sample.store.locate() == .replaced)
            try other.store.close()
            try Data("no store".utf8).write(to: URL(fileURLWithPath: path))
            #expect(try sample.store.locate() == .replaced)
            let error = #expect(throws: StoreError.self) { try LogStore.rename(path, to: moved, replacing: false) }
            #expect(error?.code == .exists)
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.removeItem(atPath: moved)
            #expect(try sample.store.locate() == .removed)
            try? sample.store.close()
            let closed = #expect(throws: StoreError.self) { try sample.store.locate() }
            #expect(closed?.code == .closed)
        }
    #endif
}
