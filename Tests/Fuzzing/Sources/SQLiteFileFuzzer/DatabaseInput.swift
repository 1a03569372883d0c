import Foundation

/// One database with the file beside it. The first byte says what that is, the second the main file's count of half kilobytes.
struct DatabaseInput {
    let main: [UInt8]
    var log: [UInt8]?
    var journal: [UInt8]?

    private enum Beside {
        static let log: UInt8 = 1
        static let journal: UInt8 = 2
        /// The log's checksums are made true, over big-endian words if the next bit is set.
        static let repairs: UInt8 = 4
        static let bigEndian: UInt8 = 8
    }

    init?(_ data: UnsafeBufferPointer<UInt8>) {
        guard data.count > 2 else { return nil }
        let flags = data[0], bytes = data.dropFirst(2), count = Int(data[1]) * 512
        main = Array(bytes.prefix(count))
        let rest = Array(bytes.dropFirst(count))
        if flags & Beside.log != 0 {
            log = flags & Beside.repairs == 0 ? rest : LogChecksums.repaired(rest, isBigEndian: flags & Beside.bigEndian != 0)
        }
        if flags & Beside.journal != 0 { journal = rest }
    }

    /// The databases that the tests keep.
    static func writeSeeds(to directory: String) throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let goldens = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../SQLiteFileTests/Goldens").standardized
        func bytes(_ name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: goldens.appendingPathComponent(name))) }
        func write(_ name: String, _ flags: UInt8, _ main: [UInt8], _ rest: [UInt8]) throws {
            try Data([flags, UInt8(main.count / 512)] + main + rest).write(to: URL(fileURLWithPath: directory + "/" + name))
        }
        let plain = try bytes("plain"), main = try bytes("log"), log = try bytes("log-wal")
        try write("plain", 0, plain, [])
        try write("log", Beside.log, main, log)
        try write("log-repaired", Beside.log | Beside.repairs, main, log)
        try write("log-big-endian", Beside.log | Beside.repairs | Beside.bigEndian, main, log)
        try write("journal", Beside.journal, plain, journal(of: plain))
    }

    /// A journal with the first pages of a database.
    private static func journal(of main: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
        func append(_ number: UInt32) { withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) } }
        for number in [3, 0, UInt32(main.count / 512), 512, 512] { append(number) }
        bytes += [UInt8](repeating: 0, count: 512 - bytes.count)
        for page in 0..<3 {
            append(UInt32(page + 1))
            let content = main[page * 512..<page * 512 + 512]
            bytes += content
            append(UInt32(main[page * 512 + 312]) + UInt32(main[page * 512 + 112]))
        }
        return bytes
    }
}
