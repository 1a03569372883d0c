/// An object at a destination.
public struct BackupObject: Sendable, Hashable {
    public var name: String
    /// The length in bytes.
    public var size: UInt64

    public init(name: String, size: UInt64) {
        self.name = name
        self.size = size
    }
}

/// The bytes of an object that a destination puts, piece by piece, so that memory does not grow with the object.
public protocol BackupUpload: Sendable {
    /// The next bytes, at least 1 and at most `BackupUploads.pieceMax`; nil at the end.
    mutating func next() async throws -> [UInt8]?
}

public enum BackupUploads {
    /// The most bytes in a piece.
    public static let pieceMax = 1 << 20
}

/// A place for log archives, such as a directory or an object store.
///
/// A name consists of parts of `A` to `Z`, `a` to `z`, `0` to `9`, `.`, `_` and `-`, joined by `/`. No part is empty, `.` or `..`. A name has at
/// most 512 bytes.
///
/// An implementation throws `BackupError`, or `CancellationError` where the task was cancelled. Backup takes any other error for
/// `BackupError.Code.unreachable`. It may be called from several tasks at once.
public protocol BackupDestination: Sendable, CustomStringConvertible {
    /// All objects whose names begin with `prefix`, sorted by the bytes of their names. Objects that are being put are not among them.
    ///
    /// The prefix ends anywhere, also within a part. An object that was put before the call began is listed, unless it was deleted.
    func list(prefix: String) async throws -> [BackupObject]
    /// Puts a whole object under a new name, atomically and durably: afterwards, or after a crash, the name has all bytes or is free.
    /// - Parameters:
    ///   - size: how many bytes `upload` gives in all; nil if that is not known.
    ///   - upload: is read once, from its beginning to its end.
    /// - Throws: `exists` if the name is taken; the object there is unchanged. The error of `upload`; the name is then as it was.
    func put(_ name: String, size: UInt64?, _ upload: some BackupUpload) async throws
    /// The bytes of a range that is within the object.
    /// - Throws: `notFound` if no object has the name; `damaged` if the object ends before the range does.
    func get(_ name: String, _ range: Range<UInt64>) async throws -> [UInt8]
    /// Deletes an object, durably. Does nothing if no object has the name.
    func delete(_ name: String) async throws
}

extension BackupDestination {
    /// Puts an object that others can read only as far as they can read a file with these attributes, where the destination has permissions.
    func put(_ name: String, size: UInt64?, _ upload: some BackupUpload, permittedAs model: FileAttributes?) async throws {
        guard let directory = self as? DirectoryDestination else { return try await put(name, size: size, upload) }
        try await directory.put(name, size: size, upload, permittedAs: model)
    }

    /// The permissions of an object; nil where the destination has none.
    func attributes(of name: ArchiveName) -> FileAttributes? { (self as? DirectoryDestination)?.attributes(of: name.text) }
}

/// An object whose bytes are in memory.
public struct BackupBytes: BackupUpload {
    private let bytes: [UInt8]
    private var offset = 0

    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    public mutating func next() -> [UInt8]? {
        guard offset < bytes.count else { return nil }
        let end = min(offset + BackupUploads.pieceMax, bytes.count)
        defer { offset = end }
        return Array(bytes[offset..<end])
    }
}
