#if THREAD_SANITIZER
    import Synchronization

    /// Takes the standard library's place in builds for the thread sanitizer, which does not see its mutex: a thread that had to
    /// wait is let on by the kernel, in code of the library that is not instrumented, so that everything a contended mutex guards
    /// would pass for a race. Whoever has the lock reads what the last holder stored, and stores for the next one: an order that
    /// the sanitizer sees, and that holds only where the lock does.
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
        // Unchecked: as the standard library's.
    }
#endif
