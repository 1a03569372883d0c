import Foundation
import Testing

@testable import RecordLog

/// Random runs over two stores that crash at their calls. See Tests/SIMULATION.md for the long form.
@Suite struct GroupRunTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let longCases = environment["HEARTWOOD_GROUP_CASES"].flatMap(Int.init)
    private static let oneSeed = environment["HEARTWOOD_GROUP_SEED"].flatMap(UInt64.init)

    @Test(.enabled(if: longCases == nil && oneSeed == nil))
    func bothStoresAreAsOfOneCommitAfterCrashesOfRandomRuns() {
        var cases = 0, groups = 0
        for seed in 0..<16 as Range<UInt64> {
            let run = GroupRun(seed: seed, crashShare: 4)
            run.run()
            cases += run.cases
            groups += run.groups
            for failure in run.failures { Issue.record("\(failure)") }
        }
        #expect(cases > 60 && groups > 60, "\(cases) cases, \(groups) groups")
    }

    @Test(.enabled(if: oneSeed != nil && longCases == nil))
    func oneGroupRunAlone() throws {
        let run = GroupRun(seed: try #require(Self.oneSeed), crashShare: 100)
        run.run()
        print("seed \(run.seed): \(run.cases) cases, \(run.groups) groups")
        for failure in run.failures { Issue.record("\(failure)") }
    }

    @Test(.enabled(if: longCases != nil))
    func manyRandomGroupRuns() throws {
        let wanted = try #require(Self.longCases), start = ContinuousClock.now
        var cases = 0, failed = 0, shown = 0, seed = Self.oneSeed ?? 0
        while cases < wanted, failed < 20 {
            let run = GroupRun(seed: seed, crashShare: 100)
            run.run()
            cases += run.cases
            if !run.failures.isEmpty { failed += 1 }
            for failure in run.failures {
                print("FAILED \(failure)")
                Issue.record("\(failure)")
            }
            seed += 1
            if cases >= shown + 5000 {
                shown = cases
                print("\(cases) cases, seeds up to \(seed), \(failed) failed, \(ContinuousClock.now - start)")
            }
        }
        print("\(cases) cases, seeds up to \(seed), \(failed) failed, \(ContinuousClock.now - start)")
    }
}
