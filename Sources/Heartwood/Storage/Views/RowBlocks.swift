/// Memory for copies of rows, in blocks that are freed together.
struct RowBlocks: ~Copyable {
    private var blocks: [UnsafeMutableRawPointer] = []
    /// The free end of the last block.
    private var free = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    private static let blockSize = 16 << 10
    private static let alignment = 8

    deinit {
        for block in blocks { block.deallocate() }
    }

    var isEmpty: Bool { blocks.isEmpty }

    /// Returns memory that stays where it is as long as this value lives.
    mutating func take(_ byteCount: Int) -> UnsafeMutableRawPointer {
        let size = (max(byteCount, 1) + Self.alignment - 1) & ~(Self.alignment - 1)
        if size > free.count {
            let block = UnsafeMutableRawBufferPointer.allocate(byteCount: max(size, Self.blockSize), alignment: Self.alignment)
            if let start = block.baseAddress { blocks.append(start) }
            free = block
        }
        let memory = UnsafeMutableRawBufferPointer(rebasing: free[..<size])
        free = UnsafeMutableRawBufferPointer(rebasing: free[size...])
        guard let start = memory.baseAddress else { preconditionFailure("a block has room for a row") }
        return start
    }
}
