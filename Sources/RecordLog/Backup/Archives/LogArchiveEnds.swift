/// The header and the trailer of a log archive: they tell whether it is the one of its name, and has its whole length. Its frames and its table are
/// not looked at.
struct LogArchiveEnds: Sendable {
    let header: LogArchiveHeader
    let headerChecksum: UInt64
    let trailer: LogArchiveTrailer

    /// More than the largest file and its table take.
    private static let sizeMax: UInt64 = 1 << 46

    /// Two requests of a few bytes, unless the bytes are known.
    /// - Parameter whole: the bytes of the whole archive, if they are known.
    /// - Throws: `damaged`, `foreign`, `newerVersion`; the errors of the destination.
    init(_ listed: ListedArchive, at destination: any BackupDestination, _ whole: [UInt8]? = nil) async throws {
        let name = listed.name, size = listed.size
        guard !listed.isTooShort, size <= Self.sizeMax else { throw listed.impossible(at: destination) }
        let start = try await LogArchiveReader.get(0..<UInt64(LogArchiveHeader.Layout.size), name, destination, whole)
        do {
            header = try LogArchiveHeader(start)
        } catch {
            throw LogArchiveReader.error(error, destination, name)
        }
        guard name.fits(header) else {
            throw BackupError(
                .foreign, LogArchiveReader.location(destination, name), "its header states another store, lineage or range than its name",
                remedy: "Delete it, or give it its own name; it is not used.")
        }
        headerChecksum = LogArchiveHeader.checksum(in: start)
        let trailerStart = size - UInt64(LogArchiveTrailer.Layout.size)
        let end = try await LogArchiveReader.get(trailerStart..<size, name, destination, whole)
        guard let found = LogArchiveTrailer(end, headerChecksum: headerChecksum, frameBytes: header.frameBytes, fileLength: size),
            found.tableLength <= header.tableLengthMax
        else { throw LogArchiveReader.damaged(destination, name, at: trailerStart, "its trailer is damaged, or it was cut") }
        trailer = found
    }
}

extension ListedArchive {
    /// Whether it has no room for more than a header and a trailer, such as an empty file. A listing suffices to see that.
    var isTooShort: Bool { size <= UInt64(LogArchiveHeader.Layout.size + LogArchiveTrailer.Layout.size) }

    /// The error of an archive that cannot have the length that it has.
    func impossible(at destination: any BackupDestination) -> BackupError {
        LogArchiveReader.damaged(destination, name, at: nil, "it cannot have \(size) bytes")
    }
}
