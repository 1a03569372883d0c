import HeartwoodPlatform

/// Waits for a write to a file.
public protocol FileWatcher: AnyObject {
    /// Returns after a write to the file, or after `milliseconds` at the latest. No system reports a write through memory, so the caller
    /// examines the file itself after each wait.
    func wait(milliseconds: Int32)
}

public enum FileWatchers {
    /// The system's best watcher: one that gets notifications, else one that sleeps.
    /// - Parameter path: an existing file. A file that later replaces it is not watched; only the timeout ends the wait then.
    public static func watcher(of path: String) -> any FileWatcher {
        #if os(Linux)
            if let notified = NotifiedWatcher.make(path) { return notified }
        #endif
        return SleepingWatcher()
    }
}

/// Sleeps until the timeout.
final class SleepingWatcher: FileWatcher {
    func wait(milliseconds: Int32) {
        #if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
            usleep(UInt32(max(0, milliseconds)) * 1000)
        #endif
    }
}

#if os(Linux)
    /// Gets notifications from the kernel (inotify).
    final class NotifiedWatcher: FileWatcher {
        private let descriptor: Int32

        private init(descriptor: Int32) {
            self.descriptor = descriptor
        }

        /// - Returns: nil if the system refuses.
        static func make(_ path: String) -> NotifiedWatcher? {
            let descriptor = inotify_init1(O_NONBLOCK | O_CLOEXEC)
            guard descriptor >= 0 else { return nil }
            // From here on the object alone closes the descriptor. A second close would meet another file that has the number by then.
            let watcher = NotifiedWatcher(descriptor: descriptor)
            return inotify_add_watch(descriptor, path, UInt32(IN_MODIFY)) >= 0 ? watcher : nil
        }

        deinit { close(descriptor) }

        func wait(milliseconds: Int32) {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, milliseconds) > 0 else { return }
            // Discards the events, so that the next call waits again.
            withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
                while read(descriptor, buffer.baseAddress, buffer.count) > 0 {}
            }
        }
    }
#endif
