@testable import RecordLog

/// A store of a few small commits for tests that damage it.
enum SmallStore {
    /// - Returns: the store, and the state after each commit from the first on.
    static func make(_ durability: Durability = .full) throws -> (SampleStore, [[UInt64: SampleStore.Person]]) {
        let sample = try SampleStore {
            $0.durability = durability
            $0.segmentShift = 16
            $0.zeroAheadBytes = 4096
        }
        var states: [[UInt64: SampleStore.Person]] = [[:]]
        for number in 0..<6 {
            let picture = number == 1 ? SampleStore.Picture(fill: 7, count: 1100) : nil
            try sample.insert(.init(name: "name \(number)", age: Int64(number), group: 1, picture: picture))
            states.append(sample.people)
            if number == 2 { try sample.store.checkpoint() }
        }
        return (sample, states)
    }

    static func bytes(_ sample: SampleStore) throws -> [UInt8] {
        let file = try sample.fileSystem.open(SampleStore.path, .readOnly)
        var bytes = [UInt8](repeating: 0, count: Int(try file.size()))
        let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
        return Array(bytes[..<count])
    }

    /// Opens other bytes as the store.
    static func open(_ bytes: [UInt8], _ sample: SampleStore, isReadOnly: Bool = false, maps: Bool = true) throws -> LogStore {
        let fileSystem = MemoryFileSystem()
        fileSystem.setContents(of: SampleStore.path, to: bytes)
        var options = sample.options
        options.fileSystem = fileSystem
        options.isReadOnly = isReadOnly
        options.createIfMissing = false
        options.usesMemoryMapping = maps
        return try LogStore.open(path: SampleStore.path, options: options)
    }

    /// The ranges of the frames up to the log's end.
    static func frames(_ sample: SampleStore) throws -> [Range<Int>] {
        var frames: [Range<Int>] = []
        try StoreInspector(store: sample.store).forEachFrame(upTo: sample.store.log.end) { frames.append(Int($0.offset)..<Int($0.end)) }
        return frames
    }
}
