import Foundation

/// Reads a file or standard input line by line.
final class LineReader {
    private let handle: FileHandle
    private var buffer = Data()
    private var isAtEnd = false
    private(set) var line = 0
    private(set) var position: UInt64 = 0
    /// nil for standard input.
    let size: UInt64?

    /// A longer line is no text file.
    private static let lineMax = 256 << 20

    /// - Parameter path: `-` for standard input.
    init(path: String) throws {
        guard path != "-" else {
            handle = .standardInput
            size = nil
            return
        }
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            throw ToolError.usage("\(path): there is no such file")
        }
        guard !isDirectory.boolValue else { throw ToolError.usage("\(path): is a directory; give a file") }
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw ToolError.failure("\(path): cannot be read; check its permissions")
        }
        self.handle = handle
        size = (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber)?.uint64Value
    }

    /// The next line without its end; nil at the end of the file.
    func next() throws -> Data? {
        var searched = 0
        while true {
            if let end = buffer[(buffer.startIndex + searched)...].firstIndex(of: 0x0A) {
                var found = buffer[buffer.startIndex..<end]
                position += UInt64(found.count + 1)
                buffer = buffer[(end + 1)...]
                if found.last == 0x0D { found = found.dropLast() }
                line += 1
                return Data(found)
            }
            searched = buffer.count
            guard !isAtEnd else {
                guard !buffer.isEmpty else { return nil }
                defer { buffer = Data() }
                position += UInt64(buffer.count)
                line += 1
                return Data(buffer)
            }
            guard buffer.count < Self.lineMax else { throw ToolError.failure("line \(line + 1) is longer than 256 MiB; this is no text file") }
            let more = try handle.read(upToCount: 1 << 18) ?? Data()
            if more.isEmpty { isAtEnd = true }
            buffer = Data(buffer) + more
        }
    }
}
