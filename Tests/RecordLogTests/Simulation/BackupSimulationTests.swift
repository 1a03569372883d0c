import Foundation
import Testing

@testable import RecordLog

/// Random backups, restores, prunes and replicas beside a writer, with losses of power on each disk. See docs/testing.md for the long form.
@Suite struct BackupSimulationTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let longRuns = environment["HEARTWOOD_BACKUP_RUNS"].flatMap(Int.init)
    private static let first = environment["HEARTWOOD_BACKUP_SEED"].flatMap(UInt64.init) ?? 0

    /// 903: a store was restored from one file of its line and compacted before its first backup, which took it for a copy, since the newest
    /// archive was the compaction's base, in which the commit has another time.
    @Test(arguments: [903 as UInt64])
    func `Runs that once found a fault end well`(seed: UInt64) async {
        let run = BackupSimulation(seed: seed)
        await run.run()
        #expect(run.failure == nil)
    }

    @Test(arguments: 0..<2 as Range<UInt64>)
    func `Whichever disk loses power, each restore and replica has a commit that was made, and none that was acknowledged is lost`(
        lane: UInt64
    ) async {
        var losses = 0, restores = 0, failed = 0
        let count = UInt64(Self.longRuns ?? 60)
        for seed in stride(from: Self.first + lane, to: Self.first + count, by: 2) where failed < 20 {
            let run = BackupSimulation(seed: seed)
            await run.run()
            losses += run.losses
            restores += run.restores
            if let failure = run.failure {
                failed += 1
                Issue.record("\(failure)")
            }
        }
        // Enough of both: more than runs.
        #expect(failed > 0 || losses > count / 2 && restores > count / 2, "\(losses) losses, \(restores) restores")
    }
}
