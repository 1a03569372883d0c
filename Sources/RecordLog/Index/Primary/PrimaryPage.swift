/// The addresses of 4096 rows: their count, a base, and four bytes a row if all are within 4 GiB of the base, else eight.
/// Spec: FORMAT.md, "Primary index".
struct PrimaryPage {
    enum Layout {
        /// 0: four bytes a row, from the base plus one; 1: eight bytes.
        static let isWide = 0
        static let count = 4
        static let base = 8
        static let addresses = 16
    }

    /// The whole payload.
    let bytes: UnsafeRawPointer?

    static var empty: PrimaryPage { PrimaryPage(nil) }

    /// - Parameter bytes: a checked payload.
    @inline(__always)
    init(_ bytes: UnsafeRawPointer?) { self.bytes = bytes }

    init?(checking payload: UnsafeRawBufferPointer) {
        guard payload.count >= Layout.addresses else { return nil }
        let isWide = UInt32(littleEndian: payload.loadUnaligned(fromByteOffset: Layout.isWide, as: UInt32.self))
        let count = UInt32(littleEndian: payload.loadUnaligned(fromByteOffset: Layout.count, as: UInt32.self))
        guard isWide <= 1, UInt64(count) <= PrimaryBase.rowsPerPage, payload.count - Layout.addresses >= Int(count) * (isWide == 0 ? 4 : 8)
        else { return nil }
        bytes = payload.baseAddress
    }

    @inline(__always)
    var isEmpty: Bool { bytes == nil }

    /// The address of the row at this index in the page; 0 if there is none.
    @inline(__always)
    func address(_ index: Int) -> UInt64 {
        guard let bytes, index < Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: Layout.count, as: UInt32.self)))
        else { return 0 }
        if bytes.load(fromByteOffset: Layout.isWide, as: UInt8.self) == 0 {
            let delta = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: Layout.addresses &+ index &* 4, as: UInt32.self))
            guard delta != 0 else { return 0 }
            return UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: Layout.base, as: UInt64.self)) &+ UInt64(delta)
        }
        return UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: Layout.addresses &+ index &* 8, as: UInt64.self))
    }

    /// - Returns: no bytes if no row has an address.
    static func encode(_ addresses: [UInt64]) -> [UInt8] {
        var low = UInt64.max, high: UInt64 = 0, count = 0
        for (index, address) in addresses.enumerated() where address != 0 {
            low = min(low, address)
            high = max(high, address)
            count = index + 1
        }
        guard count > 0 else { return [] }
        let base = low - 1
        let isWide = high - base > UInt64(UInt32.max)
        var writer = ByteWriter()
        writer.append(UInt32(isWide ? 1 : 0))
        writer.append(UInt32(count))
        writer.append(isWide ? 0 : base)
        for address in addresses.prefix(count) {
            if isWide { writer.append(address) } else { writer.append(address == 0 ? 0 : UInt32(address - base)) }
        }
        return writer.bytes
    }
}
