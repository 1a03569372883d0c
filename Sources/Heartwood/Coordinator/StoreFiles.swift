import Foundation
import RecordLog

/// What is done to the files of stores whose classes do nothing special: each store is one file.
enum StoreFiles {
    static func removeFile(at url: URL) throws {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory) else { return }
        guard !isDirectory.boolValue else {
            throw CoreDataError.make(
                NSPersistentStoreOperationError, "\(url.path) is a directory, and was not removed.", [NSFilePathErrorKey: url.path])
        }
        try FileManager.default.removeItem(at: url)
    }

    /// A file beside the one it is for, where whatever a crash leaves is no store's.
    static func beside(_ url: URL) -> URL {
        url.deletingLastPathComponent().appendingPathComponent(url.lastPathComponent + ".migrating")
    }

    /// Crash points: before the rename there is a file beside `url`, which the next replacement removes; after it `url` is the copy.
    static func replaceFile(at url: URL, with source: URL) throws {
        // Not the links.
        let target = url.resolvingSymlinksInPath(), copy = beside(target)
        try removeFile(at: copy)
        do {
            try FileManager.default.copyItem(at: source.resolvingSymlinksInPath(), to: copy)
            try LogStore.rename(copy.path, to: target.path, replacing: true)
        } catch {
            try? removeFile(at: copy)
            throw wrapped(error, url)
        }
    }

    /// - Throws: 134070 where there is a file at `url`.
    static func checkFree(_ url: URL) throws {
        guard FileManager.default.fileExists(atPath: url.path) else { return }
        throw CoreDataError.make(
            NSPersistentStoreOperationError,
            "There is a file at \(url.path) already, which was left as it is. Choose another URL, or remove it first "
                + "(destroyPersistentStore).", [NSFilePathErrorKey: url.path])
    }

    static func wrapped(_ error: any Error, _ url: URL) -> NSError {
        if let error = error as? StoreError { return RecordLogErrors.wrap(error) }
        return CoreDataError.make(
            NSPersistentStoreOperationError, "\(url.path): \(error.localizedDescription)",
            [NSUnderlyingErrorKey: error, NSFilePathErrorKey: url.path])
    }
}
