#if THREAD_SANITIZER
    import Synchronization

    /// Replaces the standard library's mutex in builds for the thread sanitizer, which does not see that one: the kernel wakes a waiting
    /// thread in library code that is not instrumented, so everything that a contended mutex guards would appear as a race. Here a holder of
    /// the lock reads the value that the last holder stored, and stores one for the next. The sanitizer sees this order, and it exists
    /// only if the lock works.
    package struct Mutex<Value: ~Copyable>: ~Copyable {
        private let base: Synchronization.Mutex<Value>
        private let order = Atomic<Int>(0)

        package init(_ value: consuming sending Value) {
            base = Synchronization.Mutex(value)
        }

        package borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            try base.withLock { value throws(Failure) in
                _ = order.load(ordering: .acquiring)
                defer { order.store(0, ordering: .releasing) }
                return try body(&value)
            }
        }

        package borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result? {
            try base.withLockIfAvailable { value throws(Failure) in
                _ = order.load(ordering: .acquiring)
                defer { order.store(0, ordering: .releasing) }
                return try body(&value)
            }
        }
    }

    extension Mutex: @unchecked Sendable where Value: ~Copyable {
        // Unchecked: as the standard library's mutex is.
    }
#endif
