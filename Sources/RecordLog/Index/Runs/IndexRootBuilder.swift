/// The list of a run's blocks while the run is written: the content of its `IndexRoot`, with tickets for the blocks' offsets.
///
/// The separators are in one array. A run of ten million entries has fifty thousand blocks, and an array of its own for each of their short
/// separators would take ten times as much memory.
struct IndexRootBuilder {
    private var separators: [UInt8] = []
    /// The end of each block's separator.
    private var ends: [Int] = []
    private var entryCounts: [UInt32] = []
    private var tickets: [FrameTicket] = []

    var isEmpty: Bool { tickets.isEmpty }

    /// - Parameter separator: sorts after every entry of the blocks so far, and not after the block's first one; ignored for the first block.
    mutating func append<Separator: Collection<UInt8>>(_ ticket: FrameTicket, separator: Separator, entryCount: Int) {
        if !isEmpty { separators.append(contentsOf: separator) }
        ends.append(separators.count)
        entryCounts.append(UInt32(entryCount))
        tickets.append(ticket)
    }

    /// A copy for another sink, to which the frames were moved.
    /// - Parameter tickets: the other sink's tickets, by their numbers in this sink.
    func moved(to tickets: [FrameTicket]) -> IndexRootBuilder {
        var moved = self
        moved.tickets = self.tickets.map { tickets[$0.number] }
        return moved
    }

    /// - Parameter pointer: the place of a block's frame.
    /// - Returns: the root's payload.
    func encode(_ pointer: (FrameTicket) -> FramePointer) -> [UInt8] {
        separators.withUnsafeBytes { bytes in
            let common = commonLength(bytes)
            var writer = ByteWriter()
            writer.bytes.reserveCapacity(IndexRoot.Layout.words + tickets.count * IndexRoot.Layout.perBlock + bytes.count)
            writer.append(UInt32(tickets.count))
            writer.append(UInt32(common))
            for index in ends.indices { writer.append(KeyBytes.word(rest(index, common, bytes))) }
            for ticket in tickets { writer.append(pointer(ticket)) }
            for count in entryCounts { writer.append(count) }
            for (index, end) in ends.enumerated() { writer.append(UInt32(end - index * common)) }
            writer.bytes.append(contentsOf: bytes.prefix(common))
            for index in ends.indices { writer.bytes.append(contentsOf: rest(index, common, bytes)) }
            return writer.bytes
        }
    }

    private func separator(_ index: Int, _ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[(index == 0 ? 0 : ends[index - 1])..<ends[index]])
    }

    /// A separator without the common prefix.
    private func rest(_ index: Int, _ common: Int, _ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: separator(index, bytes).dropFirst(common))
    }

    /// The length of the prefix that all separators except the first block's have in common.
    private func commonLength(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard ends.count > 1 else { return 0 }
        let second = separator(1, bytes)
        return ends.indices.dropFirst().reduce(second.count) { min($0, KeyBytes.shared(second, separator($1, bytes))) }
    }
}
