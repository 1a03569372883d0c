import HeartwoodPlatform

/// A mutex with a condition: threads wait until something is true, and every change wakes them to look again.
///
/// A child of `fork()` has none of its parent's threads, and may have got the mutex as one of them held it: it must not wait here.
///
/// Invariants:
/// 1. What makes a condition true changes inside `change`, so that no thread looks before the change and sleeps after it.
/// 2. No caller's code runs for long, and none waits for another lock, inside `change` or a condition.
final class WaitCondition: @unchecked Sendable {
    // Unchecked: the system's objects are made for several threads, and are in memory of their own, which never moves.
    #if canImport(ucrt)
        private let mutex = UnsafeMutablePointer<SRWLOCK>.allocate(capacity: 1)
        private let condition = UnsafeMutablePointer<CONDITION_VARIABLE>.allocate(capacity: 1)

        init() {
            InitializeSRWLock(mutex)
            InitializeConditionVariable(condition)
        }

        private func lock() { AcquireSRWLockExclusive(mutex) }
        private func unlock() { ReleaseSRWLockExclusive(mutex) }
        private func sleep() { SleepConditionVariableSRW(condition, mutex, INFINITE, 0) }
        private func sleep(_ milliseconds: Int) { SleepConditionVariableSRW(condition, mutex, DWORD(milliseconds), 0) }
        private func wake() { WakeAllConditionVariable(condition) }
        private func wakeOne() { WakeConditionVariable(condition) }
    #else
        private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

        init() {
            pthread_mutex_init(mutex, nil)
            pthread_cond_init(condition, nil)
        }

        private func lock() { pthread_mutex_lock(mutex) }
        private func unlock() { pthread_mutex_unlock(mutex) }
        private func sleep() { pthread_cond_wait(condition, mutex) }

        private func sleep(_ milliseconds: Int) {
            var end = timespec()
            clock_gettime(CLOCK_REALTIME, &end)
            let nanoseconds = Int(end.tv_nsec) + milliseconds % 1000 * 1_000_000
            end.tv_sec += milliseconds / 1000 + nanoseconds / 1_000_000_000
            end.tv_nsec = nanoseconds % 1_000_000_000
            pthread_cond_timedwait(condition, mutex, &end)
        }

        private func wake() { pthread_cond_broadcast(condition) }
        private func wakeOne() { pthread_cond_signal(condition) }
    #endif

    deinit {
        #if !canImport(ucrt)
            pthread_cond_destroy(condition)
            pthread_mutex_destroy(mutex)
        #endif
        condition.deallocate()
        mutex.deallocate()
    }

    /// Runs `body`, and wakes all threads that wait.
    func change(_ body: () -> Void) {
        lock()
        body()
        wake()
        unlock()
    }

    /// Runs `body`, and wakes one of the threads that wait, for a change that serves one of them only.
    func changeForOne(_ body: () -> Void) {
        lock()
        body()
        wakeOne()
        unlock()
    }

    /// Returns once `isTrue` gives true. The condition asks it at once, and again under the mutex after each change.
    func wait(until isTrue: () -> Bool) {
        // Most waits find their work done.
        if isTrue() { return }
        lock()
        while !isTrue() { sleep() }
        unlock()
    }

    /// Returns once `isTrue` gives true, or after about so many milliseconds.
    func wait(atMost milliseconds: Int, until isTrue: () -> Bool) {
        if isTrue() { return }
        lock()
        // Woken for another reason, the caller looks again.
        if !isTrue() { sleep(milliseconds) }
        unlock()
    }
}
