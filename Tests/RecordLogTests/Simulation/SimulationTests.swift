import Foundation
import Testing

@testable import RecordLog

/// Random runs that crash at their calls. See docs/testing.md for the long form.
@Suite struct SimulationTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let longCases = environment["HEARTWOOD_SIMULATION_CASES"].flatMap(Int.init)
    private static let oneSeed = environment["HEARTWOOD_SIMULATION_SEED"].flatMap(UInt64.init)
    private static let lanes = 2

    @Test(.enabled(if: longCases == nil && oneSeed == nil), arguments: 0..<SimulationTests.lanes)
    func `Acknowledged commits survive crashes of random runs`(lane: Int) {
        var cases = 0, diskRuns = 0, meanwhile = 0, together = 0
        for seed in stride(from: UInt64(lane), to: 90, by: Self.lanes) {
            let run = SimulationRun(seed: seed, crashShare: 9)
            run.run()
            cases += run.cases
            diskRuns = max(diskRuns, run.diskRuns)
            meanwhile += run.commitsWhileCompacting
            together += run.groupCommits
            for failure in run.failures { Issue.record("\(failure)") }
        }
        // Enough cases, with several runs to search and merge, with commits during compactions, and with commits that share syncs.
        #expect(cases > 500 && diskRuns >= 4 && meanwhile > 20, "\(cases) cases, \(diskRuns) runs, \(meanwhile) commits meanwhile")
        #expect(together > 100, "\(together) commits shared syncs")
    }

    @Test(.enabled(if: oneSeed != nil && longCases == nil))
    func `One run of a given seed is consistent`() throws {
        let run = SimulationRun(seed: try #require(Self.oneSeed), crashShare: 100)
        run.run()
        print("seed \(run.seed): \(run.cases) cases")
        for failure in run.failures { Issue.record("\(failure)") }
    }

    @Test(.enabled(if: longCases != nil), arguments: 0..<SimulationTests.lanes)
    func `Many random runs are consistent`(lane: Int) throws {
        SimulationRun.runMany(
            cases: try #require(Self.longCases) / Self.lanes,
            from: (Self.oneSeed ?? 0) + UInt64(lane), step: UInt64(Self.lanes), as: "lane \(lane)")
    }
}
