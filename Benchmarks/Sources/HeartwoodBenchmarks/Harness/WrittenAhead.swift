import Foundation
import Glibc

/// A preallocated file, so that a sync does not have to write its length.
final class WrittenAhead {
    private let descriptor: Int32
    private var end = 0

    init(_ path: String, byteCount: Int) throws {
        descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC, 0o644)
        let zeroes = [UInt8](repeating: 0, count: 1 << 20)
        for place in stride(from: 0, to: byteCount, by: zeroes.count) {
            guard pwrite(descriptor, zeroes, zeroes.count, off_t(place)) == zeroes.count else { throw PeerError(description: "pwrite failed") }
        }
        guard fsync(descriptor) == 0 else { throw PeerError(description: "fsync failed") }
    }

    deinit { close(descriptor) }

    func append(_ byteCount: Int) throws {
        let bytes = [UInt8](repeating: 7, count: byteCount)
        guard pwrite(descriptor, bytes, byteCount, off_t(end)) == byteCount, fdatasync(descriptor) == 0 else {
            throw PeerError(description: "a durable write failed")
        }
        end += byteCount
    }
}
