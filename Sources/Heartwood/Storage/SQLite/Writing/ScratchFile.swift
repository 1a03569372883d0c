import RecordLog

/// A file for sorted runs. It is made at the first write; its folder's owner removes it.
final class ScratchFile {
    private let path: String
    private var file: (any StorageFile)?
    private var end: UInt64 = 0

    init(path: String) { self.path = path }

    /// - Returns: the place of the bytes.
    func append(_ bytes: UnsafeRawBufferPointer) throws -> Range<UInt64> {
        let file = try file ?? POSIXFileSystem().open(path, .createPrivate), start = end
        self.file = file
        try file.write(bytes, at: start)
        end += UInt64(bytes.count)
        return start..<end
    }

    /// - Throws: `io` if another program has cut the file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws {
        guard let file, try file.read(into: buffer, at: offset) == buffer.count else {
            throw StoreError(.io, path: path, at: offset, "the scratch file is too short", remedy: "Try again.")
        }
    }
}
