import HeartwoodPlatform

/// A mutex with a condition: threads wait until something is true, and every change wakes them to look again.
///
/// A child of `fork()` has none of its parent's threads, and may have got the mutex as one of them held it: it must not wait here.
///
/// Invariants:
/// 1. What makes a condition true changes inside `change`, so that no thread looks before the change and sleeps after it.
/// 2. No caller's code runs for long, and none waits for another lock, inside `change` or a condition.
final class WaitCondition: @unchecked Sendable {
    // Unchecked: the system's object is made for several threads, and is in memory of its own, which never moves.
    private let mutex = SystemMutex()
    #if canImport(ucrt)
        private let condition = UnsafeMutablePointer<CONDITION_VARIABLE>.allocate(capacity: 1)

        init() { InitializeConditionVariable(condition) }

        private func sleep() { SleepConditionVariableSRW(condition, mutex.object, INFINITE, 0) }
        private func sleep(_ milliseconds: Int) { SleepConditionVariableSRW(condition, mutex.object, DWORD(milliseconds), 0) }
        private func wake() { WakeAllConditionVariable(condition) }
        private func wakeOne() { WakeConditionVariable(condition) }
    #else
        private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

        init() { pthread_cond_init(condition, nil) }

        private func sleep() { pthread_cond_wait(condition, mutex.object) }

        private func sleep(_ milliseconds: Int) {
            var end = timespec()
            clock_gettime(CLOCK_REALTIME, &end)
            let nanoseconds = Int(end.tv_nsec) + milliseconds % 1000 * 1_000_000
            end.tv_sec += milliseconds / 1000 + nanoseconds / 1_000_000_000
            end.tv_nsec = nanoseconds % 1_000_000_000
            pthread_cond_timedwait(condition, mutex.object, &end)
        }

        private func wake() { pthread_cond_broadcast(condition) }
        private func wakeOne() { pthread_cond_signal(condition) }
    #endif

    deinit {
        #if !canImport(ucrt)
            pthread_cond_destroy(condition)
        #endif
        condition.deallocate()
    }

    /// Runs `body`, and wakes all threads that wait.
    func change(_ body: () -> Void) {
        mutex.lock()
        body()
        wake()
        mutex.unlock()
    }

    /// Runs `body`, and wakes one of the threads that wait, for a change that serves one of them only.
    func changeForOne(_ body: () -> Void) {
        mutex.lock()
        body()
        wakeOne()
        mutex.unlock()
    }

    /// Returns once `isTrue` gives true. The condition asks it at once, and again under the mutex after each change.
    func wait(until isTrue: () -> Bool) {
        // Most waits find their work done.
        if isTrue() { return }
        mutex.lock()
        while !isTrue() { sleep() }
        mutex.unlock()
    }

    /// Returns once `isTrue` gives true, or after about so many milliseconds.
    func wait(atMost milliseconds: Int, until isTrue: () -> Bool) {
        if isTrue() { return }
        mutex.lock()
        // Woken for another reason, the caller looks again.
        if !isTrue() { sleep(milliseconds) }
        mutex.unlock()
    }
}
