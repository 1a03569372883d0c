import Foundation
import HeartwoodTestSupport
import Synchronization
import Testing

@testable import RecordLog

/// A save over two stores as a crash after each of its syncs leaves it, read by the tool and by the second implementation.
@Suite struct InDoubtCommitTests {
    /// The number of syncs; below 0 while they are not counted.
    private final class Count: Sendable {
        let value = Atomic(-1)

        func next() -> Int {
            guard value.load(ordering: .relaxed) >= 0 else { return -1 }
            return value.add(1, ordering: .relaxed).newValue
        }
    }

    /// Copies of both files after each sync of a save, and the paths of the commit coordinator and the other store.
    private func copies() throws -> (directories: [String], coordinator: String, other: String) {
        let files = SyncHook(POSIXFileSystem()), root = ToolProcess.temporaryPath(), syncs = Count()
        try FileManager.default.createDirectory(atPath: root + "/live", withIntermediateDirectories: true)
        files.arm {
            let number = syncs.next()
            guard number > 0 else { return }
            try? FileManager.default.copyItem(atPath: root + "/live", toPath: "\(root)/\(number)")
        }
        var options = StoreOptions()
        options.fileSystem = files
        options.segmentShift = 16
        options.compaction = nil
        let stores = try ["a", "b"].map { try LogStore.open(path: "\(root)/live/\($0)", options: options) }
        for store in stores { try store.write { try $0.setSystemValue(20, [1]) } }
        syncs.value.store(0, ordering: .relaxed)
        try LogStore.write(to: stores, author: "both") { for transaction in $0 { try transaction.setSystemValue(20, [2]) } }
        syncs.value.store(-1, ordering: .relaxed)
        for store in stores { try store.close() }
        let names = stores[0].storeID < stores[1].storeID ? ["a", "b"] : ["b", "a"]
        return (["\(root)/1", "\(root)/2", "\(root)/3"], names[0], names[1])
    }

    @Test
    func `Every reader settles an in-doubt commit the same way`() throws {
        let (directories, coordinator, other) = try copies()
        defer { try? FileManager.default.removeItem(atPath: (directories[0] as NSString).deletingLastPathComponent) }
        for (number, directory) in directories.enumerated() {
            let isDecided = number > 0, waits = number < 2
            let path = "\(directory)/\(other)"
            let verified = try ToolProcess.run("verify", path)
            #expect(verified.status == (waits ? 1 : 0), "\(number): \(verified.output)")
            if waits {
                #expect(verified.output.contains(isDecided ? "has decided for it" : "has not decided for it"), "\(verified.output)")
                #expect(try ToolProcess.run("inspect", path).output.contains("in doubt, at byte "))
            }
            if FormatReader.python != nil {
                let check = try FormatReader.run([path, "--check"])
                #expect(check.output.contains("\ncommits: \(isDecided ? 2 : 1)\n"), "\(number): \(check.output)\(check.error)")
                #expect(check.output.contains(isDecided ? "is decided" : "is not decided") == waits, "\(check.output)")
            }
            for isReadOnly in [true, false] {
                var options = StoreOptions()
                options.isReadOnly = isReadOnly
                for name in [other, coordinator] {
                    let store = try LogStore.open(path: "\(directory)/\(name)", options: options)
                    let value = try store.snapshot().unsafeSystemValue(20).map(Array.init)
                    #expect(value == [isDecided ? 2 : 1], "\(number), \(name), \(isReadOnly)")
                    try store.close()
                }
            }
            #expect(try ToolProcess.run("verify", path).status == 0)
        }
    }

    @Test
    func `Without the other file the tool names the missing file`() throws {
        let (directories, coordinator, other) = try copies()
        let root = (directories[0] as NSString).deletingLastPathComponent
        defer { try? FileManager.default.removeItem(atPath: root) }
        let path = "\(directories[1])/\(other)"
        try FileManager.default.removeItem(atPath: "\(directories[1])/\(coordinator)")
        try FileManager.default.removeItem(atPath: "\(root)/live")
        let verified = try ToolProcess.run("verify", path)
        #expect(verified.status == 1 && verified.output.contains("cannot be read") && verified.output.contains("live/\(coordinator)"))
        if FormatReader.python != nil {
            #expect(try FormatReader.run([path, "--check"]).output.contains("cannot be decided here"))
        }
        let error = #expect(throws: StoreError.self) { try LogStore.open(path: path) }
        #expect(error?.code == .undecided)
    }
}
