import Foundation

/// Collects standard output and writes it in large pieces.
///
/// Functions that are named `add` only collect. The caller ends each line, which may write.
final class OutputBuffer {
    /// The bytes from which on the end of a line writes.
    private static let full = 1 << 18

    private var memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * full, alignment: 1)
    private var count = 0

    deinit { memory.deallocate() }

    /// Memory for so many bytes more, of which `added` says how many were filled.
    @inline(__always)
    func room(_ bytes: Int) -> UnsafeMutableRawPointer {
        if memory.count &- count < bytes { grow(bytes) }
        return memory.baseAddress.unsafelyUnwrapped + count
    }

    @inline(__always)
    func added(_ bytes: Int) { count &+= bytes }

    @inline(never)
    private func grow(_ bytes: Int) {
        let grown = UnsafeMutableRawBufferPointer.allocate(byteCount: max(2 * memory.count, count + bytes), alignment: 1)
        grown.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<count]))
        memory.deallocate()
        memory = grown
    }

    @inline(__always)
    func add(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        room(bytes.count).copyMemory(from: start, byteCount: bytes.count)
        added(bytes.count)
    }

    func add(_ text: String) {
        var text = text
        text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
    }

    @inline(__always)
    func add(_ character: Unicode.Scalar) {
        room(1).storeBytes(of: UInt8(ascii: character), as: UInt8.self)
        added(1)
    }

    /// The place at which the next bytes are added.
    var mark: Int { count }

    /// Takes back what was added since a mark.
    func takeBack(to mark: Int) { count = mark }

    /// What was not written yet.
    var bytes: [UInt8] { Array(memory[..<count]) }

    /// Decimal digits of a number.
    func add(_ number: Int64) {
        var rest = number.magnitude
        // 19 digits and a sign.
        withUnsafeTemporaryAllocation(byteCount: 20, alignment: 1) { digits in
            var start = digits.count
            repeat {
                start &-= 1
                digits[start] = UInt8(truncatingIfNeeded: rest % 10) | 0x30
                rest /= 10
            } while rest > 0
            if number < 0 {
                start &-= 1
                digits[start] = UInt8(ascii: "-")
            }
            add(UnsafeRawBufferPointer(rebasing: digits[start...]))
        }
    }

    /// Writes if much was collected.
    /// - Throws: `Output.Ended`.
    @inline(__always)
    func writeIfFull() throws { if count > Self.full { try flush() } }

    func append(_ text: String) throws {
        add(text)
        try writeIfFull()
    }

    func append(_ bytes: Data) throws {
        bytes.withUnsafeBytes { add($0) }
        try writeIfFull()
    }

    /// - Throws: `Output.Ended`.
    func flush() throws {
        defer { count = 0 }
        try Output.write(UnsafeRawBufferPointer(rebasing: memory[..<count]))
    }
}
