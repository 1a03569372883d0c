import Foundation
import HeartwoodFileReading

/// Reads a file or standard input line by line.
final class LineReader {
    private let handle: FileHandle
    private var buffer = Data()
    /// The offset of the next line in the buffer.
    private var start = 0
    private var isAtEnd = false
    private(set) var line = 0
    /// Whether the last line ended with a carriage return before its line feed.
    private(set) var hadReturn = false
    private(set) var position: UInt64 = 0
    /// nil for standard input.
    let size: UInt64?

    /// The most bytes of a line. Reading a record needs about six times its line's bytes, so a file that is no text is refused early.
    let lineMax: Int

    /// - Parameter path: `-` for standard input.
    init(path: String, lineMax: Int) throws {
        self.lineMax = lineMax
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
        size = FileKind.size(path)
    }

    /// The next line without its end; nil at the end of the file.
    func next() throws -> Data? {
        var searched = start
        while true {
            if let end = Self.lineEnd(in: buffer, from: searched) {
                hadReturn = end > start && buffer[end - 1] == 0x0D
                guard (hadReturn ? end - start - 1 : end - start) <= lineMax else { throw tooLong("line \(line + 1)") }
                let found = text(start..<(hadReturn ? end - 1 : end))
                position += UInt64(end + 1 - start)
                start = end + 1
                line += 1
                return found
            }
            searched = buffer.count
            // One byte more may be the carriage return of the line's end.
            guard buffer.count - start - 1 <= lineMax else { throw tooLong("line \(line + 1)") }
            guard !isAtEnd else {
                guard start < buffer.count else { return nil }
                hadReturn = false
                guard buffer.count - start <= lineMax else { throw tooLong("line \(line + 1)") }
                let found = text(start..<buffer.count)
                position += UInt64(buffer.count - start)
                start = buffer.count
                line += 1
                return found
            }
            buffer.removeSubrange(..<start)
            searched -= start
            start = 0
            let more = try handle.read(upToCount: 1 << 18) ?? Data()
            if more.isEmpty { isAtEnd = true }
            buffer.append(more)
        }
    }

    /// - Parameter what: a line, or a record of several lines.
    func tooLong(_ what: String) -> ToolError {
        .failure("\(what) is longer than \(lineMax) bytes; if this is a text file, allow longer lines with --line-max BYTES")
    }

    /// A line's bytes; the first line's without a byte order mark.
    private func text(_ range: Range<Int>) -> Data {
        let found = buffer.subdata(in: range)
        return line == 0 && found.starts(with: [0xEF, 0xBB, 0xBF]) ? found.subdata(in: 3..<found.count) : found
    }

    private static func lineEnd(in buffer: Data, from start: Int) -> Int? {
        buffer.withUnsafeBytes { $0.offset(of: UInt8(ascii: "\n"), from: start) }
    }
}
