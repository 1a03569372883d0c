import FuzzerRun

try FuzzerRun.main(seeds: DatabaseInput.writeSeeds) { bytes in
    guard let input = DatabaseInput(bytes) else { return }
    _ = DatabaseExercise.run(input.main, log: input.log, journal: input.journal)
}
