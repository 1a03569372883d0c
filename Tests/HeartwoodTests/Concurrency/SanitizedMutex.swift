#if THREAD_SANITIZER
    import RecordLog

    typealias Mutex<Value: ~Copyable> = RecordLog.Mutex<Value>
#endif
