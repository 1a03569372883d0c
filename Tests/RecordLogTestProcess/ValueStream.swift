import Foundation
import HeartwoodTestSupport
import RecordLog

/// Makes, writes, reads, compacts and reads again a value that is longer than the memory it may take, piece by piece.
struct ValueStream {
    struct Wrong: Error {
        let what: String
    }

    private let path: String
    private let pieces: Int
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: ValueStream.piece, alignment: 64)
    private let expected = UnsafeMutableRawBufferPointer.allocate(byteCount: ValueStream.piece, alignment: 64)
    /// The highest private memory, without mapped files; in bytes.
    private var peak = 0

    /// Neither a divisor nor a multiple of a chunk.
    private static let piece = 192 << 10

    /// - Parameter bytes: the value's length, rounded down to whole pieces.
    init(path: String, bytes: Int) {
        self.path = path
        pieces = bytes / Self.piece
    }

    /// - Returns: the highest memory above the initial one; nil if the system does not report it.
    mutating func run() throws -> Int? {
        defer {
            buffer.deallocate()
            expected.deallocate()
        }
        let before = Self.memory()
        var options = StoreOptions()
        options.segmentShift = 24
        var store = try LogStore.open(path: path, options: options)
        let (table, reference) = try write(to: store)
        try read(store, table, reference)
        let report = try store.compact()
        guard report.bytesAfter > UInt64(pieces * Self.piece) else { throw Wrong(what: "a compaction left \(report.bytesAfter) bytes") }
        look()
        // The log is followed from its beginning.
        try store.close()
        options.rebuildsIndexes = true
        store = try LogStore.open(path: path, options: options)
        try read(store, table, reference)
        try store.close()
        let verified = try StoreVerification.verify(path: path)
        look()
        guard verified.isSound, verified.values == 1 else { throw Wrong(what: "\(verified)") }
        return before.map { peak - $0 }
    }

    private mutating func write(to store: LogStore) throws -> (TableDefinition, RowReference) {
        try store.write { transaction in
            let table = try transaction.defineTable(name: "files", columns: [("name", .text), ("content", .value)])
            let reference = RowReference(table: table.id, row: try transaction.newRow(in: table.id))
            let builder = RowBuilder()
            builder.begin(table.currentLayout)
            builder.set(0, text: "large")
            builder.set(1, value: try transaction.writeValue { writer in
                for number in 0..<pieces {
                    Self.fill(buffer, number)
                    try writer.append(UnsafeRawBufferPointer(buffer))
                    if number % 16 == 0 { look() }
                }
            })
            try transaction.put(reference, body: builder.unsafeBody())
            return (table, reference)
        }
    }

    private mutating func read(_ store: LogStore, _ table: TableDefinition, _ reference: RowReference) throws {
        let snapshot = store.snapshot()
        guard let row = try snapshot.unsafeRow(reference), let value = try snapshot.value(table.currentLayout.access[1], of: row),
            value.count == pieces * Self.piece
        else { throw Wrong(what: "the value is not there") }
        for number in 0..<pieces {
            Self.fill(expected, number)
            guard try value.read(into: buffer, from: number * Self.piece) == Self.piece,
                memcmp(buffer.baseAddress!, expected.baseAddress!, Self.piece) == 0
            else { throw Wrong(what: "piece \(number) is another") }
            if number % 16 == 0 { look() }
        }
    }

    /// Each piece is different, so that a misplaced one is detected.
    private static func fill(_ buffer: UnsafeMutableRawBufferPointer, _ number: Int) {
        memset(buffer.baseAddress!, Int32(number * 37 % 251), buffer.count)
        buffer.storeBytes(of: UInt64(number), as: UInt64.self)
    }

    private mutating func look() { peak = max(peak, Self.memory() ?? 0) }

    private static func memory() -> Int? {
        ProcessMemory.kibibytes("RssAnon:").map { $0 << 10 }
    }
}
