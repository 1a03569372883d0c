import Foundation
import RecordLog

/// Default file operations for store classes whose stores are one file each.
package enum StoreFiles {
    static func isThere(_ url: URL) -> Bool { FileManager.default.fileExists(atPath: url.path) }

    static func removeFile(at url: URL) throws {
        guard isThere(url) else { return }
        try checkIsFile(url, "it was not removed")
        try FileManager.default.removeItem(at: url)
    }

    /// - Parameter outcome: the part of the message that describes the file's fate.
    /// - Throws: 134070 for a directory, a pipe, a socket or a device at `url`, also through links.
    static func checkIsFile(_ url: URL, _ outcome: String) throws {
        let kind = try? FileManager.default.attributesOfItem(atPath: url.resolvingSymlinksInPath().path)[.type] as? FileAttributeType
        guard let kind, kind != .typeRegular else { return }
        throw CoreDataError.make(
            NSPersistentStoreOperationError,
            "\(url.path) is \(kind == .typeDirectory ? "a directory" : "a pipe, a socket or a device"), and \(outcome). Give the URL of a file.",
            [NSFilePathErrorKey: url.path])
    }

    /// Replaces a file by a copy of another. The copy gets the permissions, owner and group of the file that it replaces; without such a
    /// file, those of the source.
    ///
    /// Crash points: before the rename a folder is left beside `url`, which the next replacement removes; after it `url` is the copy.
    static func replaceFile(at url: URL, with source: URL) throws {
        // The files are replaced, not the links to them.
        let target = url.resolvingSymlinksInPath(), source = source.resolvingSymlinksInPath()
        try checkIsFile(target, "it was not replaced")
        try checkIsFile(source, "nothing was replaced by it")
        do {
            let folder = try MigrationFolder.claim(besides: target)
            defer { folder.abandon() }
            try FileManager.default.copyItem(at: source, to: folder.file)
            try LogStore.rename(folder.file.path, to: target.path, replacing: true, like: source.path)
        } catch {
            throw wrapped(error, url)
        }
    }

    /// Replaces the file at `url` by the one that `body` has made; see `FileStore.exchange`.
    static func exchange(at url: URL, _ body: () throws -> URL?) throws {
        try checkIsFile(url, "it was not replaced")
        guard let made = try body() else { return }
        try LogStore.rename(made.path, to: url.resolvingSymlinksInPath().path, replacing: true)
    }

    /// Ensures that no file is at `url`: removes an empty file, such as `destroyPersistentStore` leaves.
    /// - Throws: 134070 if the file there is not empty.
    package static func free(_ url: URL) throws {
        try removeEmptyFile(at: url)
        guard isThere(url) else { return }
        throw CoreDataError.make(
            NSPersistentStoreOperationError,
            "There is a file at \(url.path) already, which was left as it is. Choose another URL, or remove it first "
                + "(destroyPersistentStore).", [NSFilePathErrorKey: url.path])
    }

    /// Removes an empty file, which is a store not yet written. A link to one stays.
    static func removeEmptyFile(at url: URL) throws {
        let found = try? FileManager.default.attributesOfItem(atPath: url.path)
        guard found?[.type] as? FileAttributeType == .typeRegular, (found?[.size] as? NSNumber)?.intValue == 0 else { return }
        try FileManager.default.removeItem(at: url)
    }

    static func wrapped(_ error: any Error, _ url: URL) -> NSError {
        if let error = error as? StoreError { return RecordLogErrors.wrap(error) }
        return CoreDataError.make(
            NSPersistentStoreOperationError, "\(url.path): \(error.localizedDescription)",
            [NSUnderlyingErrorKey: error, NSFilePathErrorKey: url.path])
    }
}
