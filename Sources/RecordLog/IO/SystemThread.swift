import Platform

/// A thread of the system's own: work on it may wait for the disk, which work on the language's shared threads must not.
enum SystemThread {
    /// The thread that asks, by a number that no other one has meanwhile; 0 where the system gives none.
    static var current: UInt {
        #if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
            // A number or a pointer, of a word in any case.
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
    /// - Returns: false where the system gives none: it is not run then.
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
