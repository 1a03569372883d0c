import Foundation

/// Gathers what goes to standard output, and writes it in large pieces.
final class OutputBuffer {
    private var buffer = Data()

    func append(_ text: String) { append(Data(text.utf8)) }

    func append(_ bytes: Data) {
        buffer.append(bytes)
        if buffer.count > 1 << 18 { flush() }
    }

    func flush() {
        try? FileHandle.standardOutput.write(contentsOf: buffer)
        buffer.removeAll(keepingCapacity: true)
    }
}
