import Foundation
import RecordLog

/// A folder beside a store. A migration or replacement makes its new file in it; the file takes the store's path once it is complete.
///
/// Only the owner can read the folder, so the new file stays private with every store class. The file gets its permissions just before it
/// gets its path. A marker file identifies the folder; the lock on the marker shows that a process works in it.
///
/// A crash leaves one of these, in this order: an empty folder; the folder with its marker and, later, files; the folder without the file,
/// which has taken the store's path. The next claim removes any of them. Any other file or folder with this name belongs to another
/// program: it is refused, and neither followed nor removed.
package final class MigrationFolder {
    /// The URL at which to make the new file.
    package let file: URL
    private let path: String
    private let marker: any StorageFile

    private static let files = POSIXFileSystem()
    private static let mark = Array("heartwood migration\n".utf8)

    private init(path: String, file: URL, marker: any StorageFile) {
        self.path = path
        self.file = file
        self.marker = marker
    }

    /// Makes the folder, after removing one that a crash has left.
    /// - Parameter url: the store's URL, with links resolved.
    /// - Throws: `locked` while another migration works in the folder; `exists` if another file or folder has its name.
    package static func claim(besides url: URL) throws -> MigrationFolder {
        let path = url.path + ".migrating"
        for _ in 0..<100 {
            guard try files.makePrivateDirectory(path) else {
                try removeLeftover(path)
                continue
            }
            // Another process may take a folder without a marker for a leftover.
            guard let marker = try makeMarker(in: path) else { continue }
            return MigrationFolder(
                path: path, file: URL(fileURLWithPath: path).appendingPathComponent(url.lastPathComponent), marker: marker)
        }
        throw underWay(path)
    }

    /// As `claim(besides:)`, with the stack's errors.
    package static func claimed(besides url: URL) throws -> MigrationFolder {
        do { return try claim(besides: url) } catch { throw RecordLogErrors.wrapIfOfEngine(error) }
    }

    /// Runs `body` with a folder that is removed behind it.
    package static func use<Result>(besides url: URL, _ body: (MigrationFolder) throws -> Result) throws -> Result {
        let folder = try claim(besides: url)
        defer { folder.abandon() }
        return try body(folder)
    }

    /// Removes the folder and everything in it.
    package func abandon() {
        try? Self.removeContents(of: path, marker)
        marker.unlock()
    }

    private static func markerPath(_ folder: String) -> String { folder + "/.heartwood-migration" }

    /// - Returns: nil if the folder was removed in the meantime.
    private static func makeMarker(in folder: String) throws -> (any StorageFile)? {
        let path = markerPath(folder)
        do throws(StoreError) {
            let marker = try files.open(path, .createPrivate)
            try marker.lock(timeout: .zero)
            guard try files.identity(ofName: path) == marker.identity else { return nil }
            try mark.withUnsafeBytes { bytes in Result { () throws(StoreError) in try marker.write(bytes, at: 0) } }.get()
            return marker
        } catch {
            if error.code == .notFound { return nil }
            throw error.code == .locked ? underWay(folder) : error
        }
    }

    private static func removeLeftover(_ path: String) throws {
        guard let kind = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType else { return }
        guard kind == .typeDirectory else { throw inTheWay(path, kind == .typeSymbolicLink ? "a symbolic link" : "a file") }
        if files.removeEmptyDirectory(path) { return }
        let marker: any StorageFile
        do throws(StoreError) {
            marker = try files.open(markerPath(path), .readWriteUnlinked)
        } catch {
            // The folder may be gone, or its maker may not have made the marker yet.
            if error.code == .notFound, (try? FileManager.default.contentsOfDirectory(atPath: path))?.isEmpty ?? true { return }
            throw error.code == .notFound ? inTheWay(path, "a folder") : error
        }
        do throws(StoreError) {
            try marker.lock(timeout: .zero)
        } catch {
            throw error.code == .locked ? underWay(path) : error
        }
        defer { marker.unlock() }
        guard try files.identity(ofName: markerPath(path)) == marker.identity else { return }
        guard try isMark(marker) else { throw inTheWay(path, "a folder") }
        try removeContents(of: path, marker)
    }

    /// Whether the file is a marker. A loss of power may have left only a part of its bytes.
    private static func isMark(_ marker: any StorageFile) throws(StoreError) -> Bool {
        var bytes = [UInt8](repeating: 0, count: mark.count + 1)
        let count = try bytes.withUnsafeMutableBytes { bytes in
            Result { () throws(StoreError) in try marker.read(into: bytes, at: 0) }
        }.get()
        return count <= mark.count && zip(bytes[..<count], mark).allSatisfy { $0 == 0 || $0 == $1 }
    }

    /// Removes the marker last, so that a crash before leaves a folder that can be identified. Links in the folder are removed, not
    /// followed.
    private static func removeContents(of path: String, _ marker: any StorageFile) throws {
        let own = markerPath(path)
        guard try files.identity(ofName: own) == marker.identity else { return }
        for name in try FileManager.default.contentsOfDirectory(atPath: path) where path + "/" + name != own {
            try FileManager.default.removeItem(atPath: path + "/" + name)
        }
        try files.remove(own)
        _ = files.removeEmptyDirectory(path)
    }

    private static func inTheWay(_ path: String, _ what: String) -> StoreError {
        StoreError(
            .exists, path: path, "\(what) has the name that a migration or a replacement needs for the file that it makes",
            remedy: "Move it elsewhere, or remove it, and try again; it was left as it is, and so was the store.")
    }

    private static func underWay(_ path: String) -> StoreError {
        StoreError(
            .locked, path: path, "a migration or a replacement of this store is under way already",
            remedy: "Wait for it to end; the store is as it was.")
    }
}
