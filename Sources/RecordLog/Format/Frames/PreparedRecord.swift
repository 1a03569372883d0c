/// Names the commit coordinator, in a prepared frame. Spec: FORMAT.md, "Saves over several stores".
struct PreparedRecord: Equatable {
    /// Identifies the commits that are made together.
    var group: StoredUUID
    /// The identity of the coordinator's store.
    var coordinator: StoredUUID
    /// The sequence of the deciding commit in that store.
    var decision: UInt64
    /// The path of that store's file when the frame was written: from this file's directory, and from the root.
    var relativePath: String
    var path: String

    static let pathLengthMax = 4096

    /// The frame's payload, which ends with the footer.
    func payload(_ footer: CommitFooter, author: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        group.append(to: &writer)
        coordinator.append(to: &writer)
        writer.append(decision)
        writer.append(text: relativePath)
        writer.append(text: path)
        let start = writer.bytes.count + author.count
        writer.bytes += author + [UInt8](repeating: 0, count: CommitFooter.Layout.size)
        writer.bytes.withUnsafeMutableBytes { bytes in
            if let base = bytes.baseAddress { footer.write(to: base + start) }
        }
        return writer.bytes
    }

    /// - Returns: nil if the payload is not that of a prepared frame.
    init?(_ payload: UnsafeRawBufferPointer, _ footer: CommitFooter) {
        var reader = ByteReader(footer.rows(in: payload))
        guard let group = StoredUUID(&reader), let coordinator = StoredUUID(&reader), let decision = reader.integer(UInt64.self),
            let relativePath = reader.text(), let path = reader.text(), reader.remaining == 0,
            relativePath.utf8.count <= Self.pathLengthMax, path.utf8.count <= Self.pathLengthMax
        else { return nil }
        self.init(group: group, coordinator: coordinator, decision: decision, relativePath: relativePath, path: path)
    }

    init(group: StoredUUID, coordinator: StoredUUID, decision: UInt64, relativePath: String, path: String) {
        self.group = group
        self.coordinator = coordinator
        self.decision = decision
        self.relativePath = relativePath
        self.path = path
    }
}

/// Paths for prepared frames, so that two files that are moved together find each other.
enum FilePath {
    static func directory(of path: String) -> Substring { path[..<(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)] }
    static func name(of path: String) -> Substring { path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...] }

    /// The path from one file's directory to another file. If there is none, or it is too long for a prepared frame, `path` itself.
    static func relative(from origin: String, to path: String) -> String {
        guard origin.hasPrefix("/") == path.hasPrefix("/") else { return path }
        var here = directory(of: origin).split(separator: "/")[...], there = path.split(separator: "/")[...]
        while let a = here.first, there.count > 1, a == there.first {
            here = here.dropFirst()
            there = there.dropFirst()
        }
        let way = (here.map { _ in ".." } + there).joined(separator: "/")
        return way.utf8.count <= PreparedRecord.pathLengthMax ? way : path
    }
}
