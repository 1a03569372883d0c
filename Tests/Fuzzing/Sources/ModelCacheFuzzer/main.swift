import FuzzerRun

try FuzzerRun.main(seeds: FuzzedCache.writeSeeds) { FuzzedCache.run(Array($0)) }
