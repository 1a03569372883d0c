import Platform

/// Waits for somebody to write to a file.
public protocol FileWatcher: AnyObject {
    /// Returns when the file was written to, or after `milliseconds` at the latest: a write through memory is told by no system,
    /// so whoever waits looks for itself each time.
    func wait(milliseconds: Int32)
}

public enum FileWatchers {
    /// The best watcher that the system has: one that is told, else one that sleeps.
    /// - Parameter path: of a file that exists; one that later takes its place is not watched, but for the end of the wait.
    public static func watcher(of path: String) -> any FileWatcher {
        #if os(Linux)
            if let told = NotifiedWatcher(path) { return told }
        #endif
        return SleepingWatcher()
    }
}

/// Sleeps; whoever waits looks for itself.
final class SleepingWatcher: FileWatcher {
    func wait(milliseconds: Int32) {
        #if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
            usleep(UInt32(max(0, milliseconds)) * 1000)
        #endif
    }
}

#if os(Linux)
    /// Is told by the kernel (inotify).
    final class NotifiedWatcher: FileWatcher {
        private let descriptor: Int32

        init?(_ path: String) {
            descriptor = inotify_init1(O_NONBLOCK | O_CLOEXEC)
            guard descriptor >= 0 else { return nil }
            guard inotify_add_watch(descriptor, path, UInt32(IN_MODIFY)) >= 0 else {
                // A deinit runs only for what was made.
                close(descriptor)
                return nil
            }
        }

        deinit { close(descriptor) }

        func wait(milliseconds: Int32) {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, milliseconds) > 0 else { return }
            // What happened does not matter; it is read so that the next wait waits.
            withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
                while read(descriptor, buffer.baseAddress, buffer.count) > 0 {}
            }
        }
    }
#endif
