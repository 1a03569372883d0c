import Foundation

/// Collects standard output and writes it in large pieces.
final class OutputBuffer {
    private var buffer = Data()

    func append(_ text: String) throws { try append(Data(text.utf8)) }

    func append(_ bytes: Data) throws {
        buffer.append(bytes)
        if buffer.count > 1 << 18 { try flush() }
    }

    /// - Throws: `Output.Ended`.
    func flush() throws {
        defer { buffer.removeAll(keepingCapacity: true) }
        try Output.write(buffer)
    }
}
