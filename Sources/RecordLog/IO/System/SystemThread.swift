import HeartwoodPlatform

/// A thread of the operating system. Work on it may wait for the disk; work on Swift's shared threads must not.
enum SystemThread {
    /// A number that identifies the calling thread while it exists; 0 if the system provides none.
    static var current: UInt {
        #if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
            // A number or a pointer, one word in both cases.
            withUnsafeBytes(of: pthread_self()) { $0.loadUnaligned(as: UInt.self) }
        #else
            0
        #endif
    }

    /// Lets other threads run for about 50 microseconds.
    static func rest() {
        #if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
            usleep(50)
        #endif
    }

    private final class Work {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a new thread.
    /// - Returns: false if the system provides none; `body` does not run then.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        #if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
            let work = Unmanaged.passRetained(Work(body)).toOpaque()
            #if canImport(Darwin)
                var thread: pthread_t?
                let code = pthread_create(&thread, nil, { argument in
                    Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
                    return nil
                }, work)
                if code == 0, let thread { pthread_detach(thread) }
            #else
                var thread = pthread_t()
                let code = pthread_create(&thread, nil, { argument in
                    if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body() }
                    return nil
                }, work)
                if code == 0 { pthread_detach(thread) }
            #endif
            if code != 0 { Unmanaged<Work>.fromOpaque(work).release() }
            return code == 0
        #else
            return false
        #endif
    }
}
