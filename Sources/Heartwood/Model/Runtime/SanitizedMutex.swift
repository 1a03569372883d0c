#if THREAD_SANITIZER
    // Seen in every file of this module: not each that has a mutex imports the engine.
    @_exported import RecordLog

    /// The engine's stand-in for the standard library's mutex, which the thread sanitizer does not see.
    typealias Mutex<Value: ~Copyable> = RecordLog.Mutex<Value>
#endif
