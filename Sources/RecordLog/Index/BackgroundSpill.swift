/// A buffer of index entries on its way to a scratch file, while another is filled: sorting and writing them takes as long as
/// adding them did.
///
/// A thread of the system's does that where the file may be written from another thread; elsewhere it is done at once, in an order that
/// a simulation can repeat.
final class BackgroundSpill: @unchecked Sendable {
    // Unchecked: what the thread uses and makes is its own until `end` is finished.
    typealias Run = SpilledEntries.Run

    let number: Int
    private let entries: Memtable
    private let scratch: ScratchFile
    private var runs: [Run]
    private let end = Completion()

    private static let runsOfALevel = 16

    /// Begins.
    /// - Parameter runs: the index's runs so far, the oldest first.
    init(_ entries: Memtable, of number: Int, over runs: [Run], in scratch: ScratchFile) {
        self.entries = entries
        self.number = number
        self.runs = runs
        self.scratch = scratch
        if scratch.writesBehind, SystemThread.start({ self.run() }) { return }
        run()
    }

    /// Waits for the end.
    /// - Returns: the index's runs with the new one, and the buffer, emptied; nil where its entries could not be written, and are still in it.
    func finish() -> (runs: [Run], spare: Memtable?) {
        end.wait()
        return (runs, entries.isEmpty ? entries : nil)
    }

    private func run() {
        do throws(StoreError) {
            try append([.memory(ImmutableMemtable([entries]))], level: 0)
            entries.removeAll()
            // What cannot be made one run stays several.
            try? merge()
        } catch {
            runs.append(Run(run: .memory(ImmutableMemtable([entries])), level: 0))
        }
        end.finish()
    }

    /// Makes one run of sixteen, as long as there are so many of the newest one's level.
    private func merge() throws(StoreError) {
        while let level = runs.last?.level, runs.suffix(Self.runsOfALevel).count(where: { $0.level == level }) == Self.runsOfALevel {
            let newest = runs.suffix(Self.runsOfALevel)
            try append(newest.reversed().map(\.run), level: level + 1)
            runs.removeSubrange(newest.indices)
        }
    }

    /// Writes runs, the newest first, as one.
    private func append(_ fresh: [FreshRun], level: Int) throws(StoreError) {
        let merged = try RunSet(fresh: fresh).merged(keepsTombstones: true)
        let made = try scratch.write(entryCount: fresh.reduce(0) { $0 + $1.countMax }) { writer throws(StoreError) in
            while try merged.next() { try writer.append(merged.entry, isTombstone: merged.isTombstone) }
        }
        if let made { runs.append(Run(run: .spilled(made), level: level)) }
    }
}
