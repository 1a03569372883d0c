#if THREAD_SANITIZER
    import RecordLog

    /// Where the standard library's and the engine's are both there, this one is meant.
    typealias Mutex<Value: ~Copyable> = RecordLog.Mutex<Value>
#endif
