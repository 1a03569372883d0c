/// The outside world of a builder: the file that it makes, a temporary one, and their folder.
protocol BuildFiles: Sendable {
    /// Makes a file for everybody to read.
    /// - Throws: `exists` if something has the path, even a broken link.
    func create(_ path: String) throws(SQLiteBuildError) -> any BuildFile
    /// Makes an unnamed file in the folder of `path`. Its space is free once it is closed.
    func createTemporary(beside path: String) throws(SQLiteBuildError) -> any BuildFile
    /// Makes the names in the folder of `path` durable.
    func syncFolder(of path: String) throws(SQLiteBuildError)
}

protocol BuildFile: AnyObject {
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SQLiteBuildError)
    /// - Returns: the count of bytes read, fewer than asked only at the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(SQLiteBuildError) -> Int
    /// Makes everything written durable.
    func sync() throws(SQLiteBuildError)
    func close()
    /// Removes the file's name, if the name still leads to this file.
    func removeName()
}
