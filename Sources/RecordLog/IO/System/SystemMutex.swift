import HeartwoodPlatform

/// The system's mutex, for a lock that threads hold for long and that many want.
///
/// The standard library's mutex gives itself to the thread that waits longest, which then first has to be woken; everybody else waits for that. So
/// 16 threads that hold it for 12 µs each got it 26,000 times a second on 2 cores, and this one, which a running thread may take, 92,000 times
/// (2026-11-30). Source: Linux, futex(2), `FUTEX_UNLOCK_PI`.
struct SystemMutex: ~Copyable, @unchecked Sendable {
    // Unchecked: the system's object is made for several threads, and is in memory of its own, which never moves.
    #if canImport(ucrt)
        let object = UnsafeMutablePointer<SRWLOCK>.allocate(capacity: 1)

        init() { InitializeSRWLock(object) }

        func lock() { AcquireSRWLockExclusive(object) }
        func lockIfAvailable() -> Bool { TryAcquireSRWLockExclusive(object) != 0 }
        func unlock() { ReleaseSRWLockExclusive(object) }
    #else
        let object = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

        init() { pthread_mutex_init(object, nil) }

        func lock() { pthread_mutex_lock(object) }
        func lockIfAvailable() -> Bool { pthread_mutex_trylock(object) == 0 }
        func unlock() { pthread_mutex_unlock(object) }
    #endif

    deinit {
        #if !canImport(ucrt)
            pthread_mutex_destroy(object)
        #endif
        object.deallocate()
    }
}
