import Foundation
import Testing

@testable import RecordLog

/// Random runs over two stores that crash at their calls. See docs/testing.md for the long form.
@Suite struct TwoStoreRunTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let longCases = environment["HEARTWOOD_TWO_STORE_CASES"].flatMap(Int.init)
    private static let oneSeed = environment["HEARTWOOD_TWO_STORE_SEED"].flatMap(UInt64.init)

    @Test(.enabled(if: longCases == nil && oneSeed == nil))
    func `Both stores are at one commit after crashes of random runs`() {
        var cases = 0, groups = 0
        for seed in 0..<16 as Range<UInt64> {
            let run = TwoStoreRun(seed: seed, crashShare: 4)
            run.run()
            cases += run.cases
            groups += run.groups
            for failure in run.failures { Issue.record("\(failure)") }
        }
        #expect(cases > 60 && groups > 60, "\(cases) cases, \(groups) groups")
    }

    @Test(.enabled(if: oneSeed != nil && longCases == nil))
    func `One two-store run of a given seed is consistent`() throws {
        let run = TwoStoreRun(seed: try #require(Self.oneSeed), crashShare: 100)
        run.run()
        print("seed \(run.seed): \(run.cases) cases, \(run.groups) groups")
        for failure in run.failures { Issue.record("\(failure)") }
    }

    @Test(.enabled(if: longCases != nil))
    func `Many random two-store runs are consistent`() throws {
        TwoStoreRun.runMany(cases: try #require(Self.longCases), from: Self.oneSeed ?? 0, as: "two stores")
    }
}
