import Foundation
import Testing

@testable import RecordLog

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A store in a read-only directory, as on a CD or in a system image.
@Suite struct ReadOnlyMediaTests {
    private let directory = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-media-\(UUID().uuidString)")
    private var path: String { directory.appendingPathComponent("store.heartwood").path }

    private func makeStore(tail: [UInt8] = []) throws -> SampleStore {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let sample = try SampleStore(fileSystem: POSIXFileSystem(), path: path)
        for number in 0..<20 { try sample.insert(person("p \(number)")) }
        try sample.store.checkpoint()
        try sample.insert(person("behind the checkpoint"))
        try sample.store.close()
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(tail))
        try handle.close()
        return sample
    }

    private func setPermissions(directory mode: Int, file: Int) throws {
        try FileManager.default.setAttributes([.posixPermissions: file], ofItemAtPath: path)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: directory.path)
    }

    private func cleanUp() {
        try? setPermissions(directory: 0o755, file: 0o644)
        try? FileManager.default.removeItem(at: directory)
    }

    private struct State: Equatable {
        var names: [String]
        var bytes: Data
        var changed: Date?
        var inode: UInt64?
    }

    private func state() throws -> State {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return State(
            names: try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted(),
            bytes: try Data(contentsOf: URL(fileURLWithPath: path)), changed: attributes[.modificationDate] as? Date,
            inode: (attributes[.systemFileNumber] as? NSNumber)?.uint64Value)
    }

    private func readEverything(_ sample: SampleStore) throws {
        var options = sample.options
        options.isReadOnly = true
        let store = try LogStore.open(path: path, options: options)
        #expect(store.damage == nil)
        try sample.check(store.snapshot(), sample.people)
        try sample.check(try store.refresh(), sample.people)
        #expect(#expect(throws: StoreError.self) { try store.write { _ in } }?.code == .readOnly)
        #expect(#expect(throws: StoreError.self) { try store.checkpoint() }?.code == .readOnly)
        try store.close()
        _ = try StoreVerification.verify(path: path)
        _ = try StoreInspection.inspect(path: path)
    }

    /// A read-only handle writes neither to the file nor beside it, although it could.
    @Test(arguments: [[], [1, 2, 3, 4, 5]] as [[UInt8]])
    func `Reading leaves the file and its directory as they are`(tail: [UInt8]) throws {
        defer { cleanUp() }
        let sample = try makeStore(tail: tail)
        let before = try state()
        try readEverything(sample)
        #expect(try state() == before)
        #expect(before.names == ["store.heartwood"])
    }

    @Test(.enabled(if: geteuid() != 0, "permissions do not bind the superuser"))
    func `A store without write permission is read`() throws {
        defer { cleanUp() }
        let sample = try makeStore(tail: [9, 9, 9])
        try setPermissions(directory: 0o555, file: 0o444)
        let before = try state()
        try readEverything(sample)
        let error = #expect(throws: StoreError.self) { try LogStore.open(path: path, options: sample.options) }
        #expect(error?.code == .permissionDenied)
        #expect(try state() == before)
        // A store that cannot be written to can still be salvaged to another path.
        let new = directory.path + "-new.heartwood"
        defer { try? FileManager.default.removeItem(atPath: new) }
        #expect(try StoreSalvage.salvage(path: path, to: new).rows == sample.people.count)
        let refused = #expect(throws: StoreError.self) { try StoreSalvage.salvage(path: path, to: directory.path + "/new") }
        #expect(refused?.code == .permissionDenied)
        #expect(try state() == before)
    }
}
