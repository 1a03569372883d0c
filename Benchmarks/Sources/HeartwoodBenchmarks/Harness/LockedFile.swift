import Foundation
import Glibc

/// The system calls of a writer at each save that shares the file with other processes: take the lock, check that the path still names the file,
/// check the file's size, and release the lock.
final class LockedFile {
    private let path: String
    private let descriptor: Int32

    init(_ path: String) throws {
        self.path = path
        descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC, 0o644)
        guard descriptor >= 0 else { throw PeerError(description: "no file can be made at \(path)") }
    }

    deinit { close(descriptor) }

    func ask() throws {
        var found = stat()
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, lstat(path, &found) == 0, lseek(descriptor, 0, SEEK_END) == 0,
            flock(descriptor, LOCK_UN) == 0
        else { throw PeerError(description: "a call of the system failed") }
    }
}
