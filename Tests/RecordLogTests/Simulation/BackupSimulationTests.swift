import Foundation
import Testing

@testable import RecordLog

/// Random backups, restores, prunes and replicas beside a writer, with losses of power on each disk. See docs/testing.md for the long form.
@Suite struct BackupSimulationTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let longRuns = environment["HEARTWOOD_SIMULATION_CASES"].flatMap(Int.init).map { $0 / 10 }
    private static let first = environment["HEARTWOOD_SIMULATION_SEED"].flatMap(UInt64.init) ?? 0

    @Test("Whichever disk loses power, each restore and replica has a commit that was made, and none that was acknowledged is lost",
        arguments: 0..<2 as Range<UInt64>)
    func runs(lane: UInt64) async {
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
        // Enough of both.
        #expect(failed > 0 || losses > count && restores > count, "\(losses) losses, \(restores) restores")
    }
}
