import HeartwoodTestSupport

@testable import RecordLog

/// The parameters of a run, chosen by its seed: store options, sizes of rows and commits, and faults.
struct SimulationPlan {
    enum Faults {
        case none, errors, space
    }

    /// One for each handle.
    let durabilities: [Durability]
    let faults: Faults
    let steps: Int
    private let rowsMax: Int
    /// Rows of the first commit. With many, later checkpoints leave several runs beside a large base, and finally merge them.
    private let firstRows: Int?
    private let domain: ValueDomain
    /// Whether rows have several columns of each kind, and layouts change.
    let isWide: Bool
    /// Whether there is an index of terms. Not drawn from the generator.
    let hasTerms: Bool
    /// Whether commits share syncs. Not drawn from the generator.
    let sharesSyncs: Bool
    private let checkpointAfterBytes: UInt64
    private let zeroAheadBytes: Int
    private let flushSize: Int
    private let hasPictures: Bool
    /// One for each handle, and the last one for opening the state after a crash.
    private let mappings: [Bool]
    /// In some runs so little that index entries are spilled to scratch files.
    private let indexMemory: Int
    /// In a third of the runs every commit is a part of a load, which puts its checkpoints off.
    private let isLoading: Bool

    init(seed: UInt64, _ random: inout SeededGenerator) {
        durabilities = [[.full], [.relaxed], [.full, .full], [.relaxed, .relaxed], [.relaxed, .full]][Int(seed % 5)]
        faults = [.none, .errors, .none, .space][Int(seed / 5 % 4)]
        let isMerging = seed / 2 % 8 == 3
        let isLarge = seed % 8 == 7 && !isMerging
        steps = isLarge ? 12 : isMerging ? 45 : 30
        firstRows = isMerging ? 160 : nil
        rowsMax = isLarge ? 24 : isMerging ? 1 : 5
        domain = isLarge ? ValueDomain(longest: 4000) : .short
        // Not with many rows, because a case reads each row several times.
        isWide = seed % 3 != 1 && !isMerging
        hasTerms = seed / 13 % 2 == 0 && !isLarge
        let chosen: UInt64 = [300, 1500, 8000, 16 << 20].randomElement(using: &random) ?? 300
        checkpointAfterBytes = isMerging ? 100 : chosen
        zeroAheadBytes = [0, 4096, 4096, 16384].randomElement(using: &random) ?? 0
        // Commits are then written in several pieces, as large ones are.
        flushSize = [FrameAppender.flushSize, FrameAppender.flushSize, 2000].randomElement(using: &random) ?? 0
        hasPictures = Bool.random(using: &random)
        // A third of them reads instead of mapping. Not drawn from the generator, so that old seeds give the same runs.
        mappings = (0...2).map { (seed / 3 + $0) % 3 != 2 }
        indexMemory = seed / 7 % 4 == 1 ? 64 : 1 << 20
        sharesSyncs = seed / 3 % 2 == 1
        isLoading = seed / 11 % 3 == 1
    }

    func configure(_ options: inout StoreOptions, _ handle: Int) {
        options.durability = durabilities[handle]
        options.segmentShift = 16
        options.checkpointAfterBytes = checkpointAfterBytes
        options.zeroAheadBytes = zeroAheadBytes
        options.flushSize = flushSize
        options.alwaysSharesSyncs = sharesSyncs
        // Small, so that there are several rounds.
        options.lastRoundBytes = 100
        options.usesMemoryMapping = mappings[handle]
        options.indexMemory = indexMemory
        if isLoading { options.largeCommitBytes = 0 }
        // One thread does everything: a handle would wait only for a lock that was never released.
        options.lockTimeout = .zero
    }

    /// The options for opening the state after a crash.
    func configureAfterCrash(_ options: inout StoreOptions) {
        configure(&options, 0)
        options.usesMemoryMapping = mappings[2]
    }

    /// The number of rows that a commit changes.
    func rows(isFirst: Bool, _ random: inout SeededGenerator) -> Int {
        if isFirst, let firstRows { return firstRows }
        return Int.random(in: 1...rowsMax, using: &random)
    }

    func person(
        _ sample: SampleStore, _ catalog: Catalog, from old: SampleStore.Person? = nil, _ random: inout SeededGenerator
    ) -> SampleStore.Person {
        sample.draw(catalog, from: old, domain, hasPictures: hasPictures, &random)
    }
}
