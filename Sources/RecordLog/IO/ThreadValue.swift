import Platform

/// A pointer that each thread has one of its own of; where the platform has none of these it is always nil.
package struct ThreadValue: Sendable {
    #if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
        @usableFromInline let key: pthread_key_t

        /// - Precondition: the system has room for one more; there are to be few of these.
        package init() {
            var key = pthread_key_t()
            precondition(pthread_key_create(&key, nil) == 0, "the system has no room for a value that each thread has one of")
            self.key = key
        }

        /// The caller's; nil until it is set.
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
