internal import Foundation

/// What no value may be. The server's messages and fields have less than a gigabyte (MaxAllocSize in its src/include/utils/memutils.h).
package enum PostgreSQLValueLimit {
    package static let bytesMax = 0x3fff_ffff

    /// The error of a value of so many bytes; nil if the server may take it.
    package static func fault(count: Int) -> PostgreSQLError? {
        // The value's length, and the head of its message.
        guard count > bytesMax - 64 else { return nil }
        return PostgreSQLError(.badValue, "A value has \(count) bytes; the server takes less than a gigabyte.")
    }

    package static func fault(text: UnsafeBufferPointer<UInt8>) -> PostgreSQLError? {
        if let fault = fault(count: text.count) { return fault }
        guard let base = text.baseAddress, memchr(base, 0, text.count) != nil else { return nil }
        return PostgreSQLError(.badValue, "A text contains U+0000, which no text of the server has.")
    }
}
