/// A database in memory, for tests and for bytes that are no file.
package struct MemoryFiles: DatabaseFiles {
    package let path: String
    private let parts: [DatabasePart: [UInt8]]

    package init(path: String, main: [UInt8], log: [UInt8]? = nil, journal: [UInt8]? = nil) {
        self.path = path
        var parts: [DatabasePart: [UInt8]] = [.main: main]
        parts[.log] = log
        parts[.journal] = journal
        self.parts = parts
    }

    var main: any ByteSource { MemorySource(bytes: parts[.main] ?? []) }

    func open(_ part: DatabasePart) -> (any ByteSource)? { parts[part].map(MemorySource.init) }
    func status(_ part: DatabasePart) -> FileStatus? { parts[part].map { MemorySource(bytes: $0).status() } }
    func exists(_ path: String) -> Bool { false }
    func settle(_ status: FileStatus) -> Bool { false }
    func lock() -> Bool { true }
    func unlock() {}
    func isReserved() -> Bool? { false }
}

struct MemorySource: ByteSource {
    let bytes: [UInt8]

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int {
        guard offset < bytes.count else { return 0 }
        let count = min(buffer.count, bytes.count - Int(offset))
        bytes.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[Int(offset)..<Int(offset) + count])) }
        return count
    }

    func status() -> FileStatus { FileStatus(size: UInt64(bytes.count)) }
}
