import Synchronization
import Testing

@testable import RecordLog

@Suite struct WaitConditionTests {
    @Test
    func `A thread waits until other work has finished, and then sees what that has written`() {
        for round in 0..<200 {
            let end = Completion(), written = Atomic(0)
            #expect(!end.isFinished)
            let isStarted = SystemThread.start {
                if round % 2 == 0 { SystemThread.rest() }
                written.store(round, ordering: .relaxed)
                end.finish()
            }
            guard isStarted else { return }
            end.wait()
            #expect(end.isFinished && written.load(ordering: .relaxed) == round)
            // A wait for finished work returns at once.
            end.wait()
        }
    }

    @Test
    func `Many threads that wait are all woken by one change`() {
        let condition = WaitCondition(), isOpen = Atomic(false), through = Atomic(0), ends = (0..<8).map { _ in Completion() }
        for end in ends {
            let isStarted = SystemThread.start {
                condition.wait { isOpen.load(ordering: .acquiring) }
                through.add(1, ordering: .relaxed)
                end.finish()
            }
            if !isStarted { end.finish() }
        }
        SystemThread.rest()
        #expect(through.load(ordering: .relaxed) == 0)
        condition.change { isOpen.store(true, ordering: .releasing) }
        for end in ends { end.wait() }
        #expect(through.load(ordering: .relaxed) == ends.count)
    }

    @Test
    func `A change for one thread wakes one at least, and lets none sleep for good`() {
        let condition = WaitCondition(), tokens = Atomic(0), ends = (0..<8).map { _ in Completion() }
        for end in ends {
            let isStarted = SystemThread.start {
                condition.wait {
                    let known = tokens.load(ordering: .relaxed)
                    return known > 0 && tokens.compareExchange(expected: known, desired: known - 1, ordering: .relaxed).exchanged
                }
                end.finish()
            }
            guard isStarted else { return }
        }
        SystemThread.rest()
        for _ in ends { condition.changeForOne { tokens.add(1, ordering: .relaxed) } }
        for end in ends { end.wait() }
        #expect(tokens.load(ordering: .relaxed) == 0)
    }

    @Test
    func `A wait with a limit ends without the change, and not before its time`() {
        let condition = WaitCondition(), clock = ContinuousClock(), start = clock.now
        condition.wait(atMost: 30) { false }
        #expect(clock.now - start >= .milliseconds(20))
        condition.wait(atMost: 60_000) { true }
        #expect(clock.now - start < .seconds(50))
    }

    @Test
    func `A writer that waits for another handle's lock of a file in memory goes on as soon as the lock is free`() throws {
        let file = MemoryFile(path: "memory", identity: FileSystemIdentity(device: 0, inode: 1), memoryMax: 1 << 20)
        #expect(file.tryLock() && !file.tryLock())
        let end = Completion()
        let isStarted = SystemThread.start {
            while !file.tryLock() { file.waitForLock() }
            file.unlock()
            end.finish()
        }
        guard isStarted else { return }
        SystemThread.rest()
        file.unlock()
        end.wait()
        #expect(file.tryLock())
    }
}
