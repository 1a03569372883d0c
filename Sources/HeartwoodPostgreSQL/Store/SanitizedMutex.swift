#if THREAD_SANITIZER
    // Exported to every file of this module, since not each file with a mutex imports the engine.
    @_exported import RecordLog

    /// The engine's replacement for the standard library's mutex, which the thread sanitizer does not see.
    typealias Mutex<Value: ~Copyable> = RecordLog.Mutex<Value>
#endif
