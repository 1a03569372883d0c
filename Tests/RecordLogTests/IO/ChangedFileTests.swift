import Foundation
import Testing

@testable import RecordLog

/// Open files that others delete, replace and cut: the handle throws an error with path, offset and remedy, and writes nothing.
@Suite(.serialized) struct ChangedFileTests {
    private let path = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-changed-\(UUID().uuidString)").path
    private var url: URL { URL(fileURLWithPath: path) }

    private func make(maps: Bool, rows: Int = 20) throws -> SampleStore {
        let sample = try SampleStore(fileSystem: POSIXFileSystem(), path: path) {
            $0.segmentShift = 16
            $0.usesMemoryMapping = maps
            $0.durability = .none
        }
        for number in 0..<rows {
            try sample.insert(.init(name: "\(number) " + String(repeating: "n", count: 3000), age: Int64(number), group: 1))
        }
        try sample.store.checkpoint()
        return sample
    }

    /// `Data(contentsOf:)` leaks for an empty file, which the address sanitizer reports.
    private func contents() -> Data? {
        guard let handle = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? handle.close() }
        return try? handle.readToEnd() ?? Data()
    }

    private func cleanUp() { try? FileManager.default.removeItem(atPath: path) }

    private func failure(_ body: () throws -> Void) -> StoreError? {
        let error = #expect(throws: StoreError.self) { try body() }
        #expect(error?.path == path && error?.remedy.isEmpty == false)
        return error
    }

    private func insert(_ sample: SampleStore) throws { try sample.insert(.init(name: "more", age: 1, group: 1)) }

    @Test(arguments: [true, false])
    func `A deleted file is still read and not written`(maps: Bool) throws {
        let sample = try make(maps: maps)
        try FileManager.default.removeItem(atPath: path)
        #expect(failure { try insert(sample) }?.code == .notFound)
        try sample.check(try sample.store.refresh(), sample.people)
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(failure { _ = try StoreVerification.verify(path: path) }?.code == .notFound)
    }

    private enum Replacement: CaseIterable {
        case directory, database, text, nothing, zeroes, otherStore
    }

    /// An empty file that replaced the store once became a store at the next save.
    @Test(arguments: [true, false])
    func `A file that replaces the store's file is left as it is`(maps: Bool) throws {
        for replacement in Replacement.allCases {
            cleanUp()
            let sample = try make(maps: maps, rows: 3)
            try FileManager.default.removeItem(atPath: path)
            var expected = StoreError.Code.notAStore
            switch replacement {
            case .directory:
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
                expected = .isDirectory
            case .database: try (Data("SQLite format 3\0".utf8) + Data(repeating: 1, count: 20_000)).write(to: url)
            case .text: try Data("hello".utf8).write(to: url)
            case .nothing: try Data().write(to: url)
            case .zeroes: try Data(count: 4096).write(to: url)
            case .otherStore:
                try make(maps: maps, rows: 1).store.close()
                expected = .superseded
            }
            let before = contents()
            #expect(failure { try insert(sample) }?.code == expected, "\(replacement)")
            // A store destroyed by force leaves such a file: its readers continue as if it had been removed.
            if replacement == .nothing {
                #expect(throws: Never.self) { _ = try sample.store.refresh() }
            } else {
                #expect(failure { _ = try sample.store.refresh() }?.code == expected, "\(replacement)")
            }
            #expect(contents() == before && (before == nil) == (replacement == .directory), "\(replacement)")
            // Everything read before is still readable.
            try sample.check(sample.store.snapshot(), sample.people)
            if replacement == .database { #expect(failure { try insert(sample) }?.message.contains("SQLite") == true) }
        }
        cleanUp()
    }

    /// The size is checked first: touching mapped bytes that are gone would raise a signal.
    @Test(arguments: [true, false])
    func `A file that was cut is refused before its bytes are touched`(maps: Bool) throws {
        for size in [0, 1, 4096, 8192, 30_000] as [UInt64] {
            cleanUp()
            let sample = try make(maps: maps)
            var options = sample.options
            options.isReadOnly = true
            let reader = try LogStore.open(path: path, options: options)
            let handle = try FileHandle(forWritingTo: url)
            try handle.truncate(atOffset: size)
            try handle.close()
            for error in [failure { _ = try reader.refresh() }, failure { try insert(sample) }, failure { try sample.store.checkpoint() }] {
                #expect(error?.code == .corrupt && error?.offset == size && error?.message.contains("\(size) bytes") == true, "\(size)")
            }
            #expect(contents()?.count == Int(size))
        }
        cleanUp()
    }

    /// The file has another store's bytes.
    @Test(arguments: [true, false])
    func `An overwritten file is refused`(maps: Bool) throws {
        defer { cleanUp() }
        let other = try make(maps: maps)
        try other.store.close()
        let bytes = try Data(contentsOf: url)
        cleanUp()
        let sample = try make(maps: maps)
        let handle = try FileHandle(forUpdating: url)
        try handle.write(contentsOf: bytes)
        try handle.close()
        #expect(failure { try insert(sample) }?.code == .corrupt)
        #expect(failure { _ = try sample.store.refresh() }?.code == .corrupt)
    }
}
