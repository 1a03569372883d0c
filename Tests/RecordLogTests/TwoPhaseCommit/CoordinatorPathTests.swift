import Testing

@testable import RecordLog

/// A prepared store finds its commit coordinator wherever the two files are.
@Suite struct CoordinatorPathTests {
    private func open(_ path: String, _ disk: SimulatedFileSystem) throws -> SampleStore {
        try SampleStore(fileSystem: disk, path: path) {
            $0.segmentShift = 16
            $0.zeroAheadBytes = 0
            $0.lockTimeout = .zero
        }
    }

    private func add(_ samples: [SampleStore]) throws {
        try LogStore.write(to: samples.map(\.store)) { transactions in
            for (transaction, sample) in zip(transactions, samples) {
                try sample.put(transaction, try transaction.newRow(in: sample.table.id), .init(name: "x", age: 1, group: 1))
            }
        }
    }

    /// A file at this directory depth.
    private func path(_ name: String, depth: Int) -> String { "/" + String(repeating: "\(name)/", count: depth) + name }

    @Test
    func `Relative paths lead from one file to the other`() {
        #expect(FilePath.relative(from: "/a/b/x", to: "/a/c/y") == "../c/y")
        #expect(FilePath.relative(from: "/a/b/x", to: "/a/b/y") == "y")
        #expect(FilePath.relative(from: "x", to: "y") == "y")
        #expect(FilePath.relative(from: "a/x", to: "/y") == "/y")
        #expect(FilePath.relative(from: "/x", to: "/a/b/y") == "a/b/y")
        // The longest path that fits, and a longer one.
        for (depth, isRelative) in [(819, true), (820, false)] {
            let deep = path("b", depth: depth), way = FilePath.relative(from: path("a", depth: depth), to: deep)
            #expect((way.hasPrefix("../") && way.hasSuffix(deep)) == isRelative && (way == deep) != isRelative, "\(depth)")
            #expect(way.utf8.count <= PreparedRecord.pathLengthMax)
        }
    }

    /// The relative path is longer than a prepared frame can hold; each absolute path is one that a system accepts.
    @Test
    func `Stores in deep directories far apart are opened again`() throws {
        let paths = ["a", "b"].map { path($0, depth: 1000) }
        let disk = SimulatedFileSystem(seed: 7)
        try add(try paths.map { try open($0, disk) })
        for path in paths {
            let sample = try open(path, disk)
            #expect(try sample.contents(sample.store.snapshot()).count == 1)
        }
    }

    @Test
    func `Stores in deep directories far apart have both or neither after a crash`() throws {
        let paths = ["a", "b"].map { path($0, depth: 1000) }
        var call = 0, isDone = false, decided = 0
        while !isDone {
            let disk = SimulatedFileSystem(seed: 7)
            let samples = try paths.map { try open($0, disk) }
            disk.fail(at: disk.operationCount + call)
            do {
                try add(samples)
                isDone = true
            } catch {}
            let left = disk.afterPowerLoss(seed: 1)
            let counts = try paths.reversed().map { path in
                let sample = try open(path, left)
                return try sample.contents(sample.store.snapshot()).count
            }
            #expect(counts[0] == counts[1] && (!isDone || counts[0] == 1), "call \(call)")
            decided += counts[0]
            call += 1
        }
        #expect(call > 5 && decided > 1)
    }

    /// No system has such paths; a client's file system may.
    @Test
    func `A path longer than a frame is refused before anything is written`() throws {
        let paths = ["a", "b"].map { path($0, depth: 3000) }
        let disk = SimulatedFileSystem(seed: 7)
        let samples = try paths.map { try open($0, disk) }
        let before = disk.operationCount
        let error = #expect(throws: StoreError.self) { try add(samples) }
        #expect(error?.code == .invalidArgument && error.map { paths.contains($0.path) } == true && error?.remedy.isEmpty == false)
        #expect(disk.operationCount == before)
        // Each store accepts commits of its own.
        for sample in samples { try sample.insert(.init(name: "alone", age: 1, group: 1)) }
        for path in paths {
            let sample = try open(path, disk)
            #expect(try sample.contents(sample.store.snapshot()).count == 1)
        }
    }
}
