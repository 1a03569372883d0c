import Foundation
import Synchronization
import Testing

@testable import RecordLog

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A store's path may name something other than a regular file, which is refused: reading a pipe would wait forever, and a device has no end.
@Suite struct IrregularFileTests {
    enum Kind: CaseIterable {
        case pipe, socket, device, directory
    }

    private struct LateError: Error {}

    /// Makes a file of this kind; for the device only a link, since making a device needs privileges.
    private func make(_ kind: Kind, _ path: String) throws {
        switch kind {
        case .pipe: try #require(mkfifo(path, 0o600) == 0)
        case .socket:
            #if canImport(Darwin)
                let descriptor = socket(AF_UNIX, SOCK_STREAM, 0)
            #else
                let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            #endif
            defer { close(descriptor) }
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
            let size = socklen_t(MemoryLayout<sockaddr_un>.size)
            let isBound = withUnsafePointer(to: &address) { address in
                address.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) == 0 }
            }
            try #require(isBound)
        case .device: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/zero")
        case .directory: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        }
    }

    /// The error that `body` throws, with a timeout.
    private func failure(_ body: @escaping @Sendable () throws -> Void) throws -> StoreError? {
        let found = Mutex<StoreError?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            do { try body() } catch { found.withLock { $0 = error as? StoreError } }
            isDone.signal()
        }
        guard isDone.wait(timeout: .now() + 20) == .success else { throw LateError() }
        return found.withLock { $0 }
    }

    @Test(arguments: Kind.allCases, [true, false])
    func `A path that is not a regular file is refused`(kind: Kind, isReadOnly: Bool) throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("hw-\(UUID().uuidString.prefix(8))").path
        try make(kind, path)
        defer { try? FileManager.default.removeItem(atPath: path) }
        var options = StoreOptions()
        options.isReadOnly = isReadOnly
        let (given, source) = (options, try SampleStore())
        let waysIn: [@Sendable () throws -> Void] = [
            { _ = try LogStore.open(path: path, options: given) },
            { _ = try ArchiveFile(path: path, options: given).read() },
            { _ = try StoreInspection.inspect(path: path) },
            { _ = try StoreSalvage.salvage(path: path, to: path + ".salvaged", options: StoreOptions()) },
        ]
        for (number, way) in waysIn.enumerated() {
            let error = try #require(try failure(way), "\(kind), way \(number)")
            #expect(error.code == (kind == .directory ? .isDirectory : .notAStore), "\(kind), way \(number): \(error)")
            #expect(error.path == path && !error.remedy.isEmpty)
        }
        // It is not replaced either. The device is not tried: it is the system's own.
        if kind != .device { #expect(throws: StoreError.self) { try source.store.copy(to: path, replacing: true) } }
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType != .typeRegular)
    }

    @Test(arguments: [Kind.pipe, .socket, .directory])
    func `No call removes or replaces what is no file`(kind: Kind) throws {
        let files = POSIXFileSystem(), folder = FileManager.default.temporaryDirectory.path
        let path = folder + "/hw-\(UUID().uuidString.prefix(8))", other = path + "-file"
        try make(kind, path)
        defer { for path in [path, other] { try? FileManager.default.removeItem(atPath: path) } }
        _ = try files.open(other, .create)
        let expected: StoreError.Code = kind == .directory ? .isDirectory : .notAStore
        #expect(#expect(throws: StoreError.self) { try files.remove(path) }?.code == expected)
        #expect(#expect(throws: StoreError.self) { try files.rename(other, to: path) }?.code == expected)
        for mode in [OpenMode.readWrite, .readWriteUnlinked] {
            #expect(#expect(throws: StoreError.self) { _ = try files.open(path, mode) }?.code == expected)
        }
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType != .typeRegular)
        #expect(FileManager.default.fileExists(atPath: other))
    }
}
