import HeartwoodPlatform

/// A pointer with a separate value in each thread. On a platform without thread-specific values it is always nil.
package struct ThreadValue: Sendable {
    #if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
        @usableFromInline let key: pthread_key_t

        /// - Precondition: the system has a free key. Keys are scarce, so make few of these.
        package init() {
            var key = pthread_key_t()
            precondition(pthread_key_create(&key, nil) == 0, "the system has no room for a value that each thread has one of")
            self.key = key
        }

        /// The calling thread's value; nil until it is set.
        @inlinable package var pointer: UnsafeMutableRawPointer? {
            get { pthread_getspecific(key) }
            nonmutating set { pthread_setspecific(key, newValue) }
        }
    #else
        package init() {}

        package var pointer: UnsafeMutableRawPointer? {
            get { nil }
            nonmutating set {}
        }
    #endif
}
