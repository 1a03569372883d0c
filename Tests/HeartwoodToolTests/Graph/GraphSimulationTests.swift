import Foundation
import Testing
import heartwood_testprocess

/// Two contexts, a child with an undo manager and a second process over one store, compared with plain rows: docs/testing.md.
///
/// A failure prints its seed and the steps; `HEARTWOOD_GRAPH_SEED=…` repeats that run, `HEARTWOOD_GRAPH_RUNS=…` sets the number of runs.
@Suite(.serialized) struct GraphSimulationTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seed = environment["HEARTWOOD_GRAPH_SEED"].flatMap(UInt64.init)
    private static let runs = environment["HEARTWOOD_GRAPH_RUNS"].flatMap(Int.init)
    private static let steps = 120
    /// Enough runs for each event to happen; the rarest happens about a dozen times.
    private static let enough = 10

    @Test(arguments: [true, false])
    func `Every context agrees with plain rows`(hasSecondProcess: Bool) throws {
        let first = Self.seed ?? UInt64.random(in: 1...UInt64.max >> 1)
        let runs = Self.runs ?? (Self.seed == nil ? Self.enough : 1)
        var counts: [String: Int] = [:]
        for seed in first..<first + UInt64(runs) {
            let path = ToolProcess.temporaryPath()
            defer { ToolProcess.cleanUp(path) }
            let run = try GraphSimulation(seed: seed, file: hasSecondProcess ? URL(fileURLWithPath: path) : nil)
            do {
                for _ in 0..<Self.steps { try run.step() }
                try run.finish()
            } catch {
                let story = run.story.suffix(60).joined(separator: "\n").replacing("heartwood_testprocess.", with: "")
                Issue.record("seed \(seed): \(error) after\n\(story)\nthen\n\(run.otherFailures())")
                return
            }
            counts.merge(run.counts, uniquingKeysWith: +)
        }
        print("graph simulation: from seed \(first), \(runs) runs: \(counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" })")
        guard runs >= Self.enough else { return }
        for what in ["edit", "undo", "redo", "save", "conflict", "merge", "rollback", "refresh", "save of the child"] {
            #expect(counts[what] ?? 0 > 0, "seed \(first): no \(what)")
        }
    }
}
