import Foundation
import HeartwoodPlatform

/// Waits for SIGINT and SIGTERM. From its beginning on none is lost: a handler writes a byte to a pipe, where it stays until somebody reads it.
///
/// A source of Dispatch alone would miss signals: it needs the process to ignore them, and sees none that come before a thread has begun to
/// wait for them.
final class StopSignals: Sendable {
    private let ends: (read: Int32, write: Int32)
    private let stopped = DispatchSemaphore(value: 0)

    static let numbers = [SIGINT, SIGTERM]

    /// - Throws: if the process has no descriptors left.
    init() throws {
        var made: [Int32] = [-1, -1]
        guard pipe(&made) == 0 else { throw ToolError.failure("the process has no file descriptors left") }
        ends = (made[0], made[1])
        for end in made { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        stopPipe = ends.write
        var set = sigset_t()
        sigemptyset(&set)
        for number in Self.numbers {
            signal(number, noteStop)
            sigaddset(&set, number)
        }
        // A thread that starts a program may have them blocked, and the program inherits that. One that came meanwhile arrives now.
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }

    /// Calls `body`, on another thread, once a signal has come or came before.
    func onStop(_ body: @escaping @Sendable () -> Void) {
        let descriptor = ends.read
        let thread = Thread { [self] in
            var byte: UInt8 = 0
            // Interrupted by the signal itself, and ended by the closing of the other end.
            var count = read(descriptor, &byte, 1)
            while count < 0, errno == EINTR { count = read(descriptor, &byte, 1) }
            if count == 1 { body() }
            _ = close(descriptor)
            stopped.signal()
        }
        thread.stackSize = 1 << 18
        thread.start()
    }

    /// Gives the signals back to the system. To be called behind `onStop`.
    func end() {
        for number in Self.numbers { signal(number, SIG_DFL) }
        stopPipe = -1
        _ = close(ends.write)
        stopped.wait()
    }
}

/// The end of the pipe that the handler writes to. A constant at first, so that the handler initializes nothing.
private nonisolated(unsafe) var stopPipe: Int32 = -1

/// The handler. It calls only what may be called in one (POSIX.1-2017, 2.4.3). A second signal ends the process.
private func noteStop(_ number: Int32) {
    let code = errno
    for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
    var byte: UInt8 = 1
    _ = write(stopPipe, &byte, 1)
    errno = code
}
