/// A line of commits of one store. A store begins with a line that has its own identity; a restore and a promotion begin a new one. Row 4 of
/// the system table. Spec: FORMAT.md, "System table".
public struct Lineage: Hashable, Sendable {
    public var id: StoredUUID
    /// The point at which the line left another one; nil for a store's first line.
    public var fork: Fork?

    public struct Fork: Hashable, Sendable {
        /// The lineage that this one left.
        public var parent: StoredUUID
        /// The number of the last commit that both have.
        public var sequence: UInt64
        /// The checksum of that commit's frame in the file `fileID`.
        var checksum: UInt64
        /// The physical file in which the checksum holds.
        var fileID: UInt64
    }

    static let row: UInt64 = 4
    private static let recordVersion: UInt8 = 1

    /// The first line of a store.
    init(of storeID: StoredUUID) { id = storeID }

    init(id: StoredUUID, fork: Fork?) {
        self.id = id
        self.fork = fork
    }

    /// - Returns: nil if the bytes are not a lineage.
    init?(_ bytes: UnsafeRawBufferPointer) {
        var reader = ByteReader(bytes)
        guard reader.integer(UInt8.self) == Self.recordVersion, let id = StoredUUID(&reader), let fork = Fork(&reader), reader.remaining == 0
        else { return nil }
        self.init(id: id, fork: fork)
    }

    /// The row's bytes; empty for a store's first line, which has no row.
    func encoded() -> [UInt8] {
        guard let fork else { return [] }
        var writer = ByteWriter()
        writer.append(Self.recordVersion)
        id.append(to: &writer)
        fork.append(to: &writer)
        return writer.bytes
    }
}

extension Lineage.Fork {
    init?(_ reader: inout ByteReader) {
        guard let parent = StoredUUID(&reader), let sequence = reader.integer(UInt64.self), let checksum = reader.integer(UInt64.self),
            let fileID = reader.integer(UInt64.self)
        else { return nil }
        self.init(parent: parent, sequence: sequence, checksum: checksum, fileID: fileID)
    }

    func append(to writer: inout ByteWriter) {
        parent.append(to: &writer)
        writer.append(sequence)
        writer.append(checksum)
        writer.append(fileID)
    }
}
