import TestSupport

@testable import RecordLog

/// What a run does, by its seed: how it is opened, how large its rows and commits are, which faults it meets.
struct SimulationPlan {
    enum Faults {
        case none, errors, space
    }

    /// One for each handle.
    let durabilities: [Durability]
    let faults: Faults
    let steps: Int
    private let rowsMax: Int
    /// Of the first commit: with many, later checkpoints leave several runs beside a large base, and merge them at last.
    private let firstRows: Int?
    private let domain: ValueDomain
    /// Whether rows have several columns of each kind, and layouts that change.
    let isWide: Bool
    private let checkpointAfterBytes: UInt64
    private let zeroAheadBytes: Int
    private let flushSize: Int
    private let hasPictures: Bool
    /// One for each handle, and the last one for whoever opens what a crash left.
    private let mappings: [Bool]
    /// Of some runs so little that index entries are set aside in scratch files.
    private let indexMemory: Int

    init(seed: UInt64, _ random: inout SeededGenerator) {
        durabilities = [[.full], [.relaxed], [.full, .full], [.relaxed, .relaxed], [.relaxed, .full]][Int(seed % 5)]
        faults = [.none, .errors, .none, .space][Int(seed / 5 % 4)]
        let isMerging = seed / 2 % 8 == 3
        let isLarge = seed % 8 == 7 && !isMerging
        steps = isLarge ? 12 : isMerging ? 45 : 30
        firstRows = isMerging ? 160 : nil
        rowsMax = isLarge ? 24 : isMerging ? 1 : 5
        domain = isLarge ? ValueDomain(longest: 4000) : .short
        // Not where there are many rows, each of which a case reads several times.
        isWide = seed % 3 != 1 && !isMerging
        let chosen: UInt64 = [300, 1500, 8000, 16 << 20].randomElement(using: &random) ?? 300
        checkpointAfterBytes = isMerging ? 100 : chosen
        zeroAheadBytes = [0, 4096, 4096, 16384].randomElement(using: &random) ?? 0
        // So that commits are written in several pieces, as large ones are.
        flushSize = [FrameAppender.flushSize, FrameAppender.flushSize, 2000].randomElement(using: &random) ?? 0
        hasPictures = Bool.random(using: &random)
        // A third of them reads in place of mapping; not from the generator, so that a seed does what it did before.
        mappings = (0...2).map { (seed / 3 + $0) % 3 != 2 }
        indexMemory = seed / 7 % 4 == 1 ? 64 : 1 << 20
    }

    func configure(_ options: inout StoreOptions, _ handle: Int) {
        options.durability = durabilities[handle]
        options.segmentShift = 16
        options.checkpointAfterBytes = checkpointAfterBytes
        options.zeroAheadBytes = zeroAheadBytes
        options.flushSize = flushSize
        // So that there are rounds.
        options.lastRoundBytes = 100
        options.usesMemoryMapping = mappings[handle]
        options.indexMemory = indexMemory
        // Nobody works at the same time: who waits, waits for a lock that was never let go.
        options.lockTimeout = .zero
    }

    /// For whoever opens what a crash left.
    func configureAfterCrash(_ options: inout StoreOptions) {
        configure(&options, 0)
        options.usesMemoryMapping = mappings[2]
    }

    /// How many rows a commit changes.
    func rows(isFirst: Bool, _ random: inout SeededGenerator) -> Int {
        if isFirst, let firstRows { return firstRows }
        return Int.random(in: 1...rowsMax, using: &random)
    }

    func person(_ sample: SampleStore, _ catalog: Catalog, from old: SampleStore.Person? = nil, _ random: inout SeededGenerator) -> SampleStore.Person {
        sample.draw(catalog, from: old, domain, hasPictures: hasPictures, &random)
    }
}
