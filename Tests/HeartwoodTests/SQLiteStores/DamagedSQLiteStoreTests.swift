import Foundation
@testable import HeartwoodSQLite
import HeartwoodTestSupport
import Testing

@testable import Heartwood

/// Small stores with each byte changed in turn, opened through the stack. HEARTWOOD_STORE_BYTES=1 takes every byte, in two ways.
@Suite struct DamagedSQLiteStoreTests {
    private static let stride = ProcessInfo.processInfo.environment["HEARTWOOD_STORE_BYTES"].flatMap { Int($0) }

    /// A copy of a golden, whose files are written anew for each case.
    private struct Copy {
        let store: URL
        let model: NSManagedObjectModel
        private(set) var files: [(url: URL, bytes: [UInt8])] = []

        init(_ name: String, in folder: URL) throws {
            let golden = try #require(try CoreDataStoreFiles.goldens().first { $0.name == name })
            store = folder.appendingPathComponent("\(name).sqlite")
            model = try CoreDataStoreModel.find(storeAt: golden.store.path).model
            for suffix in ["", "-wal"] {
                guard let bytes = try? Data(contentsOf: URL(fileURLWithPath: golden.store.path + suffix)) else { continue }
                files.append((URL(fileURLWithPath: store.path + suffix), Array(bytes)))
                try write(bytes: Array(bytes), to: files.count - 1)
            }
        }

        /// Old enough that opening needs no wait for the file system's clock.
        func write(bytes: [UInt8], to index: Int) throws {
            try Data(bytes).write(to: files[index].url)
            // Whole seconds: Foundation rounds some fractions up to a second, which the system refuses.
            let time = Date(timeIntervalSinceReferenceDate: Date().timeIntervalSinceReferenceDate.rounded() - 1000)
            try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: files[index].url.path)
        }
    }

    private static func check(_ copy: Copy, model: NSManagedObjectModel?, _ what: @autoclosure () -> String) -> Int {
        let clock = ContinuousClock(), start = clock.now
        let errors = StoreExercise.errors(at: copy.store, model: model)
        #expect(clock.now - start < .seconds(10), "\(what()) ends")
        for error in errors {
            #expect(error.domain == NSCocoaErrorDomain && !error.localizedDescription.isEmpty, "\(what()): \(error)")
        }
        return errors.count
    }

    private static let names = [
        "log-beside", "history", "external", "swiftdata", "subentities-ordered", "many-to-many-reflexive", "to-many-without-inverse",
        "old-without-cache", "composites", "attributes-types",
    ]

    @Test(arguments: names)
    func `A changed byte gives objects or typed errors, also where the store tells its model`(name: String) throws {
        try CoreDataStoreFiles.withFolder { folder in
            let copy = try Copy(name, in: folder)
            var errors = 0
            for (index, file) in copy.files.enumerated() {
                let step = Self.stride ?? max(1, file.bytes.count / 61)
                for (count, offset) in Swift.stride(from: 0, to: file.bytes.count, by: step).enumerated() {
                    for bits in Self.stride == nil ? [[0xFF, 0x01, 0x80][count % 3] as UInt8] : [0xFF, 0x01] {
                        var bytes = file.bytes
                        bytes[offset] ^= bits
                        try copy.write(bytes: bytes, to: index)
                        let model = count % 4 == 3 ? nil : copy.model
                        errors += Self.check(copy, model: model, "\(file.url.lastPathComponent) byte \(offset) ^ \(bits)")
                    }
                }
                try copy.write(bytes: file.bytes, to: index)
            }
            #expect(errors > 0, "the bytes of \(name) are read")
        }
    }

    @Test(arguments: names)
    func `Random changes of a store, with the log's checksums made true, give objects or typed errors`(name: String) throws {
        let environment = ProcessInfo.processInfo.environment
        let seed = environment["HEARTWOOD_STORE_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 1...UInt64.max)
        let rounds = environment["HEARTWOOD_STORE_MUTATIONS"].flatMap { Int($0) } ?? 25
        var generator = SeededGenerator(seed: seed)
        try CoreDataStoreFiles.withFolder { folder in
            let copy = try Copy(name, in: folder)
            for round in 0..<rounds {
                let index = Int.random(in: 0..<copy.files.count, using: &generator)
                var bytes = copy.files[index].bytes
                for _ in 0..<Int.random(in: 1...6, using: &generator) { Self.change(&bytes, &generator) }
                if index == 1, Bool.random(using: &generator) { bytes = StoreLog.repaired(bytes) }
                try copy.write(bytes: bytes, to: index)
                _ = Self.check(copy, model: Bool.random(using: &generator) ? nil : copy.model, "\(name), seed \(seed), round \(round)")
                try copy.write(bytes: copy.files[index].bytes, to: index)
            }
        }
    }

    private static func change(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
        let offset = Int.random(in: 0..<bytes.count, using: &generator), other = Int.random(in: 0..<bytes.count, using: &generator)
        let count = min(Int.random(in: 1...40, using: &generator), bytes.count - max(offset, other))
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: bytes[offset] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &generator) ?? 0
        case 1: bytes[offset] ^= 1 << UInt8.random(in: 0...7, using: &generator)
        case 2: bytes.replaceSubrange(offset..<offset + count, with: Array(bytes[other..<other + count]))
        case 3: for index in offset..<offset + count { bytes[index] = .random(in: 0...255, using: &generator) }
        default: bytes[offset] = .random(in: 0...255, using: &generator)
        }
    }

    @Test(arguments: ["log-beside", "history", "composites"])
    func `A store that is cut off gives objects or typed errors`(name: String) throws {
        try CoreDataStoreFiles.withFolder { folder in
            let copy = try Copy(name, in: folder)
            for (index, file) in copy.files.enumerated() {
                let step = Self.stride ?? max(1, file.bytes.count / 23)
                for length in Swift.stride(from: 0, to: file.bytes.count, by: step) {
                    try copy.write(bytes: Array(file.bytes.prefix(length)), to: index)
                    _ = Self.check(copy, model: copy.model, "\(file.url.lastPathComponent) of \(length) bytes")
                }
                try copy.write(bytes: file.bytes, to: index)
            }
            // The files of external data lie beside the golden.
            let errors = StoreExercise.errors(at: copy.store, model: copy.model)
            #expect(errors.allSatisfy { $0.code == CocoaError.Code.fileReadNoSuchFile.rawValue }, "\(errors)")
        }
    }

    @Test(arguments: names)
    func `Whole stores are read without an error`(name: String) throws {
        try CoreDataStoreFiles.withFolder { folder in
            let copy = try Copy(name, in: folder)
            let errors = StoreExercise.errors(at: copy.store, model: copy.model)
            // The files of external data lie beside the golden.
            #expect(errors.allSatisfy { $0.code == CocoaError.Code.fileReadNoSuchFile.rawValue } && errors.count <= 4, "\(errors)")
        }
    }
}

/// Makes the checksums of a write-ahead log true, over little-endian words. Source: SQLite, "Database File Format", 4.2.
private enum StoreLog {
    static func repaired(_ log: [UInt8]) -> [UInt8] {
        guard log.count >= 32 else { return log }
        var bytes = log, sums: (UInt32, UInt32) = (0, 0)
        func word(_ at: Int) -> UInt32 { (0..<4).reduce(0) { $0 | UInt32(bytes[at + $1]) << (8 * UInt32($1)) } }
        func add(_ range: Range<Int>) {
            for at in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
                sums.0 = sums.0 &+ word(at) &+ sums.1
                sums.1 = sums.1 &+ word(at + 4) &+ sums.0
            }
        }
        func put(_ at: Int) {
            for (index, sum) in [sums.0, sums.1].enumerated() {
                for byte in 0..<4 { bytes[at + 4 * index + byte] = UInt8(truncatingIfNeeded: sum >> (24 - 8 * UInt32(byte))) }
            }
        }
        bytes.replaceSubrange(0..<4, with: [0x37, 0x7F, 0x06, 0x82])
        add(0..<24)
        put(24)
        let pageSize = Int(bytes[10]) << 8 | Int(bytes[11])
        guard pageSize >= 512, pageSize % 8 == 0 else { return bytes }
        for frame in stride(from: 32, through: bytes.count - 24 - pageSize, by: 24 + pageSize) {
            add(frame..<frame + 8)
            add(frame + 24..<frame + 24 + pageSize)
            put(frame + 16)
        }
        return bytes
    }
}
