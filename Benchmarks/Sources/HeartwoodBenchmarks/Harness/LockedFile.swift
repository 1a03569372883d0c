import Foundation
import Glibc

/// What a writer asks the system at each save so that it may share the file with other processes: the lock, whether the path still
/// names the file, whether the file has grown, and the lock back.
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
