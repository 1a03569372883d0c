#if THREAD_SANITIZER
    import RecordLog

    /// Resolves the ambiguity between the standard library's and the engine's.
    typealias Mutex<Value: ~Copyable> = RecordLog.Mutex<Value>
#endif
