import Dispatch
import Testing

@testable import RecordLog

@Suite struct SystemMutexTests {
    private final class Counted: @unchecked Sendable {
        // Unchecked: the mutex guards the count.
        let mutex = SystemMutex()
        var count = 0
    }

    @Test
    func `Threads that count under a mutex lose nothing, whether they wait for it or try until they get it`() {
        let counted = Counted()
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for _ in 0..<1000 {
                if thread % 2 == 0 { counted.mutex.lock() } else { while !counted.mutex.lockIfAvailable() { SystemThread.rest() } }
                counted.count += 1
                counted.mutex.unlock()
            }
        }
        #expect(counted.count == 4000)
    }

    @Test
    func `A mutex is available to no other thread while one holds it`() {
        let counted = Counted(), end = Completion()
        counted.mutex.lock()
        let isStarted = SystemThread.start {
            if counted.mutex.lockIfAvailable() { counted.count += 1 }
            end.finish()
        }
        if isStarted { end.wait() }
        #expect(counted.count == 0)
        counted.mutex.unlock()
        let isFree = counted.mutex.lockIfAvailable()
        #expect(isFree)
        counted.mutex.unlock()
    }
}
