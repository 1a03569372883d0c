import Foundation

extension UnsafeRawBufferPointer {
    /// Finds a byte by the C library's search, which looks at many bytes at a time, also in a build without optimisation.
    /// - Parameter start: the offset at which the search begins.
    /// - Returns: an offset from the start of these bytes; nil if there is none.
    package func offset(of byte: UInt8, from start: Int = 0) -> Int? {
        guard start < count, let first = baseAddress, let found = memchr(first + start, Int32(byte), count - start) else { return nil }
        return UnsafeRawPointer(found) - first
    }
}
