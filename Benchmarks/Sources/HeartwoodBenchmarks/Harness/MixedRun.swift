import Foundation
import Synchronization

/// Runs one writer beside two readers for two seconds.
struct MixedRun {
    private let type: any Peer.Type
    private let path: String
    private let generator: PersonGenerator

    init(_ type: any Peer.Type, path: String, generator: PersonGenerator) {
        self.type = type
        self.path = path
        self.generator = generator
    }

    private final class Tally: Sendable {
        let isOver = Atomic<Bool>(false)
        let rows = Atomic<Int>(0)
        let failure = Mutex<(any Error)?>(nil)
    }

    /// - Returns: microseconds for reading a row and for a save.
    func run(_ writer: any Peer) throws -> (read: Double, save: Double) {
        let tally = Tally()
        let threads = (0..<2).map { number in
            let type = self.type, path = self.path, generator = self.generator
            let thread = Thread {
                do {
                    let peer = try type.init(path: path, generator: generator)
                    try peer.open()
                    let numbers = generator.sample(min(1000, generator.count / 4))
                    while !tally.isOver.load(ordering: .relaxed) {
                        try peer.look()
                        _ = try peer.pointByID(numbers)
                        tally.rows.wrappingAdd(numbers.count, ordering: .relaxed)
                    }
                    try peer.close()
                } catch {
                    tally.failure.withLock { $0 = error }
                }
            }
            thread.name = "reader \(number)"
            thread.start()
            return thread
        }
        var saves = 0
        let numbers = generator.sample(min(2000, generator.count / 4))
        let (_, seconds) = try Clock.seconds {
            let end = Date().addingTimeInterval(2)
            while Date() < end {
                try writer.saveOne(numbers[saves % numbers.count])
                saves += 1
            }
        }
        let rows = tally.rows.load(ordering: .relaxed)
        tally.isOver.store(true, ordering: .relaxed)
        while !threads.allSatisfy(\.isFinished) { usleep(1000) }
        if let failure = tally.failure.withLock({ $0 }) { throw failure }
        return (seconds * 1e6 * 2 / Double(max(rows, 1)), seconds * 1e6 / Double(max(saves, 1)))
    }
}
