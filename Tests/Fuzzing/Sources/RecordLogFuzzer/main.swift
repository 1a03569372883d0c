import FuzzerRun

try FuzzerRun.main(seeds: SeedCorpus.write) { bytes in
    guard let input = FuzzedInput(bytes) else { return }
    if input.target == .file { FuzzedFile.run(input) } else { FuzzedParts.run(input) }
}
