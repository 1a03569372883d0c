import Foundation

/// A store of Core Data's with its log. The first byte says whether there is a log, the second has the main file's count of half kilobytes.
struct StoreInput {
    private let main: [UInt8]
    private var log: [UInt8]?

    private enum Beside {
        static let log: UInt8 = 1
        /// The log's checksums are made true.
        static let repairs: UInt8 = 2
    }

    init?(_ data: UnsafeBufferPointer<UInt8>) {
        guard data.count > 2 else { return nil }
        let flags = data[0], bytes = data.dropFirst(2), count = Int(data[1]) * 512
        main = Array(bytes.prefix(count))
        guard flags & Beside.log != 0 else { return }
        let rest = Array(bytes.dropFirst(count))
        log = flags & Beside.repairs == 0 ? rest : LogChecksums.repaired(rest, isBigEndian: false)
    }

    /// Old enough that opening needs no wait for the file system's clock.
    func write(to store: URL) throws {
        let beside = URL(fileURLWithPath: store.path + "-wal")
        try? FileManager.default.removeItem(at: beside)
        try Data(main).write(to: store)
        if let log { try Data(log).write(to: beside) }
        // Whole seconds: Foundation rounds some fractions up to a second, which the system refuses.
        let time = Date(timeIntervalSinceReferenceDate: Date().timeIntervalSinceReferenceDate.rounded() - 1000)
        try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: store.path)
    }

    /// The stores that the tests keep.
    static func writeSeeds(to directory: String) throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let goldens = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../CoreDataStores/Goldens").standardized
        for name in try FileManager.default.contentsOfDirectory(atPath: goldens.path) where name.hasSuffix(".sqlite") {
            let main = try Data(contentsOf: goldens.appendingPathComponent(name))
            let log = try? Data(contentsOf: goldens.appendingPathComponent(name + "-wal"))
            for flags in log == nil ? [0] : [Beside.log, Beside.log | Beside.repairs] {
                let bytes = Data([flags, UInt8(main.count / 512)]) + main + (log ?? Data())
                try bytes.write(to: URL(fileURLWithPath: "\(directory)/\(name)-\(flags)"))
            }
        }
    }
}
