/// Walks the entries of one run, in memory or on disk, within a range, in either direction.
final class RunCursor {
    private enum Source {
        case memory(MemoryRun)
        case disk(DiskRun)
    }

    private let source: Source
    private let range: KeyRange
    private let isDescending: Bool

    /// The current entry; valid until the next move.
    private(set) var key = UnsafeRawBufferPointer(start: nil, count: 0)
    private(set) var isTombstone = false
    private(set) var isValid = false

    // In memory: the entry. On disk: the entry in the interval.
    private var position = 0
    private var root: DiskRun.Root?
    private var blockIndex = 0
    private var block: DiskRun.Block?
    private var interval = 0
    private var decoded = DecodedInterval()

    init(_ run: MemoryRun, _ range: KeyRange, isDescending: Bool) {
        source = .memory(run)
        self.range = range
        self.isDescending = isDescending
        if isDescending {
            position = (range.upper.map { $0.withUnsafeBytes { run.lowerBound($0) } } ?? run.count) - 1
        } else {
            position = range.lower.map { $0.withUnsafeBytes { run.lowerBound($0) } } ?? 0
        }
        showMemory(run)
    }

    init(_ run: DiskRun, _ range: KeyRange, isDescending: Bool) throws(StoreError) {
        source = .disk(run)
        self.range = range
        self.isDescending = isDescending
        let root = try run.blocks()
        self.root = root
        guard root.count > 0 else { return }
        if isDescending { try seekLast(run, root) } else { try seekFirst(run, root) }
    }

    // MARK: Moving

    func advance() throws(StoreError) {
        guard isValid else { return }
        switch source {
        case .memory(let run):
            position &+= isDescending ? -1 : 1
            showMemory(run)
        case .disk(let run):
            if isDescending { try stepBack(run) } else { try step(run) }
        }
    }

    private func showMemory(_ run: MemoryRun) {
        guard position >= 0, position < run.count else {
            isValid = false
            return
        }
        key = run.key(position)
        isTombstone = run.entries[position].isTombstone
        isValid = isInside(key)
    }

    /// Whether the far end of the range has not been passed; the near end is where the walk started.
    @inline(__always)
    private func isInside(_ key: UnsafeRawBufferPointer) -> Bool {
        if isDescending {
            guard let lower = range.lower else { return true }
            return lower.withUnsafeBytes { MemoryRun.compare(key, $0) >= 0 }
        }
        guard let upper = range.upper else { return true }
        return upper.withUnsafeBytes { MemoryRun.compare(key, $0) < 0 }
    }

    // MARK: On disk

    private func load(_ run: DiskRun, block index: Int) throws(StoreError) {
        guard let root else { return }
        blockIndex = index
        block = try run.block(root.pointer(index))
    }

    private func decode(_ index: Int) throws(StoreError) {
        interval = index
        try block?.decode(index, into: &decoded)
    }

    private func showDisk() {
        let range = decoded.range(position)
        key = decoded.bytes.withUnsafeBytes { UnsafeRawBufferPointer(rebasing: $0[range]) }
        isTombstone = decoded.isTombstone(position)
        isValid = isInside(key)
    }

    private func bytes(_ index: Int) -> UnsafeRawBufferPointer {
        decoded.bytes.withUnsafeBytes { UnsafeRawBufferPointer(rebasing: $0[decoded.range(index)]) }
    }

    private func withBytes<Result>(_ key: [UInt8]?, _ body: (UnsafeRawBufferPointer?) throws(StoreError) -> Result) throws(StoreError) -> Result {
        guard let key else { return try body(nil) }
        let outcome: Swift.Result<Result, StoreError> = key.withUnsafeBytes { bytes in
            do throws(StoreError) { return .success(try body(bytes)) } catch { return .failure(error) }
        }
        return try outcome.get()
    }

    private func seekFirst(_ run: DiskRun, _ root: DiskRun.Root) throws(StoreError) {
        try withBytes(range.lower) { lower throws(StoreError) in
            try load(run, block: lower.map(root.block) ?? 0)
            try decode(try lower.map { key throws(StoreError) in try block?.interval(for: key) ?? 0 } ?? 0)
            position = 0
            if let lower {
                while position < decoded.count, MemoryRun.compare(bytes(position), lower) < 0 { position += 1 }
            }
            if position == decoded.count {
                position -= 1
                isValid = true
                try step(run)
            } else {
                showDisk()
            }
        }
    }

    private func seekLast(_ run: DiskRun, _ root: DiskRun.Root) throws(StoreError) {
        try withBytes(range.upper) { upper throws(StoreError) in
            try load(run, block: upper.map(root.block) ?? root.count - 1)
            let last = (block?.intervalCount ?? 1) - 1
            try decode(try upper.map { key throws(StoreError) in try block?.interval(for: key) ?? 0 } ?? last)
            position = decoded.count - 1
            if let upper {
                while position >= 0, MemoryRun.compare(bytes(position), upper) >= 0 { position -= 1 }
            }
            if position < 0 {
                // Nothing in this interval is below the end, so the one before holds the entry, if any does.
                position = 0
                isValid = true
                try stepBack(run)
            } else {
                showDisk()
            }
        }
    }

    private func step(_ run: DiskRun) throws(StoreError) {
        position += 1
        if position >= decoded.count {
            guard let root, let block else { return }
            if interval + 1 < block.intervalCount {
                try decode(interval + 1)
            } else if blockIndex + 1 < root.count {
                try load(run, block: blockIndex + 1)
                try decode(0)
            } else {
                isValid = false
                return
            }
            position = 0
        }
        showDisk()
    }

    private func stepBack(_ run: DiskRun) throws(StoreError) {
        position -= 1
        if position < 0 {
            guard block != nil else { return }
            if interval > 0 {
                try decode(interval - 1)
            } else if blockIndex > 0 {
                try load(run, block: blockIndex - 1)
                try decode((block?.intervalCount ?? 1) - 1)
            } else {
                isValid = false
                return
            }
            position = decoded.count - 1
        }
        showDisk()
    }
}
