/// Sorts a buffer of index entries and writes them to a scratch file while another buffer is filled; both take about the same time.
///
/// A separate thread does it if the file allows writes from other threads. Otherwise it is done at once, in an order that a simulation
/// can repeat.
final class BackgroundSpill: @unchecked Sendable {
    // Unchecked: only the thread accesses its state until `end` has finished.
    typealias Run = SpilledEntries.Run

    let number: Int
    private let entries: Memtable
    private let scratch: ScratchFile
    private var runs: [Run]
    private let end = Completion()

    private static let runsOfALevel = 16

    /// Starts.
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
    /// - Returns: the index's runs with the new one, and the emptied buffer; nil if its entries could not be written and are still in it.
    func finish() -> (runs: [Run], spare: Memtable?) {
        end.wait()
        return (runs, entries.isEmpty ? entries : nil)
    }

    private func run() {
        do throws(StoreError) {
            try append([.memory(ImmutableMemtable([entries]))], level: 0)
            entries.removeAll()
            // If a merge fails, the runs remain separate.
            try? merge()
        } catch {
            runs.append(Run(run: .memory(ImmutableMemtable([entries])), level: 0))
        }
        end.finish()
    }

    /// Merges the sixteen newest runs into one of the next level, as long as sixteen have the newest one's level.
    private func merge() throws(StoreError) {
        while let level = runs.last?.level, runs.suffix(Self.runsOfALevel).count(where: { $0.level == level }) == Self.runsOfALevel {
            let newest = runs.suffix(Self.runsOfALevel)
            try append(newest.reversed().map(\.run), level: level + 1)
            runs.removeSubrange(newest.indices)
        }
    }

    /// Merges runs, the newest first, into one and writes it.
    private func append(_ fresh: [FreshRun], level: Int) throws(StoreError) {
        let merged = try RunSet(fresh: fresh).merged(keepsTombstones: true)
        let made = try scratch.write(entryCount: fresh.reduce(0) { $0 + $1.countMax }) { writer throws(StoreError) in
            while try merged.next() { try writer.append(merged.entry, isTombstone: merged.isTombstone) }
        }
        if let made { runs.append(Run(run: .spilled(made), level: level)) }
    }
}
