import Foundation
import RecordLog

/// A file that a command writes completely, replacing an existing one.
enum OutputFile {
    /// Replaces the file atomically: afterwards the path has the old file or the new one, complete. The new one has the old one's permissions,
    /// owner and group. A crash may leave the new one under another name, which begins with the path.
    /// - Throws: `isDirectory`, and `notAStore` for a pipe, a socket or a device; `permissionDenied`, `noSpace`, `io`.
    static func replace(_ path: String, with data: Data) throws(StoreError) {
        let files = POSIXFileSystem()
        // Resolved, so that a symbolic link stays.
        let target = (try? files.resolved(path)) ?? path
        let isThere = try files.identity(of: target) != nil
        // A path that is not a file is refused before anything is written.
        if isThere { _ = try files.open(target, .readOnly) }
        let beside = target + ".\(String(files.random(), radix: 36))"
        let made = try files.open(beside, isThere ? .createPrivate : .create)
        do throws(StoreError) {
            try data.withUnsafeBytes { bytes in Result { () throws(StoreError) in try made.write(bytes, at: 0) } }.get()
            try LogStore.rename(beside, to: target, replacing: true)
        } catch {
            try? files.remove(beside)
            throw error
        }
    }
}
