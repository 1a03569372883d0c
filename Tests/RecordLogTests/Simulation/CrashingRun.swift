import Testing

/// A seeded run of random work in which the power may fail before each call that changes the disk.
protocol CrashingRun {
    /// - Parameter crashShare: the share of calls, in percent, whose crash is checked.
    init(seed: UInt64, crashShare: UInt64)
    func run()
    /// The number of crashes that were checked.
    var cases: Int { get }
    /// The failures, one line each, with the seed.
    var failures: [String] { get }
}

extension CrashingRun {
    /// The long form: runs with every crash checked, until the wanted number of cases is reached or 20 runs have failed.
    static func runMany(cases wanted: Int, from first: UInt64, step: UInt64 = 1, as name: String) {
        let start = ContinuousClock.now
        var cases = 0, failed = 0, shown = 0, seed = first
        func report() { print("\(name): \(cases) cases, seeds up to \(seed), \(failed) failed, \(ContinuousClock.now - start)") }
        while cases < wanted, failed < 20 {
            let run = Self(seed: seed, crashShare: 100)
            run.run()
            cases += run.cases
            if !run.failures.isEmpty { failed += 1 }
            for failure in run.failures {
                print("FAILED \(failure)")
                Issue.record("\(failure)")
            }
            seed += step
            if cases >= shown + 5000 {
                shown = cases
                report()
            }
        }
        report()
    }
}
