import Foundation
import SwiftData
import Testing

/// Contexts, actors and the main context over one container, compared with plain values: docs/testing.md.
///
/// A failure prints its seed and the steps; `HEARTWOOD_MODELS_SEED=…` repeats that run, `HEARTWOOD_MODELS_RUNS=…` sets the number of runs. Without
/// either one run is short, of a fixed seed. It takes the first steps of the long run.
@Suite(.serialized) struct ModelSimulationTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seed = environment["HEARTWOOD_MODELS_SEED"].flatMap(UInt64.init)
    private static let runs = environment["HEARTWOOD_MODELS_RUNS"].flatMap(Int.init)
    private static let isShort = seed == nil && runs == nil
    private static let steps = isShort ? 25 : 120
    private static let enough = 4

    @MainActor @Test(arguments: [false, true])
    func `Every model context agrees with plain values`(inMemory: Bool) async throws {
        let first = Self.seed ?? (Self.isShort ? 20_261_130 : UInt64.random(in: 1...UInt64.max >> 1))
        let runs = Self.runs ?? 1
        var counts: [String: Int] = [:]
        for seed in first..<first + UInt64(runs) {
            let url = FileManager.default.temporaryDirectory.appending(path: "SwiftDataTests-\(UUID().uuidString).store")
            defer { try? FileManager.default.removeItem(at: url) }
            let run = try Simulation(seed: seed, url: inMemory ? nil : url)
            do {
                try await play(run)
            } catch {
                Issue.record("seed \(seed)\(inMemory ? " in memory" : ""): \(error) after\n\(run.story.suffix(60).joined(separator: "\n"))")
                return
            }
            counts.merge(run.counts, uniquingKeysWith: +)
        }
        print("model simulation: from seed \(first), \(runs) runs: \(counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" })")
        guard runs >= Self.enough else { return }
        for what in ["value", "link", "insert", "join", "deletion", "save", "rollback", "undo", "fetch", "label", "autosave"] {
            #expect(counts[what] ?? 0 > 0, "seed \(first): no \(what)")
        }
    }

    @MainActor private func play(_ run: Simulation) async throws {
        for step in 1...Self.steps {
            let context = run.contexts[Int.random(in: 0..<run.contexts.count, using: &run.random)]
            try await run.on(context) { try run.step(context) }
            if step % 20 == 0 { try await run.autosave() }
            if step % 40 == 0 { try await run.reopen() }
        }
        for context in run.contexts {
            try await run.on(context) {
                _ = try run.bringUp(context)
                try run.check(context)
            }
        }
    }
}
