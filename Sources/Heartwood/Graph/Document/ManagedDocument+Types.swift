import Foundation

extension ManagedDocument {
    /// The document's current state; an empty set means an open document without problems.
    public struct State: OptionSet, Hashable, Sendable {
        public let rawValue: UInt

        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// Open, without a failed save, and its file is in its location.
        public static let normal: State = []
        /// Not open.
        public static let closed = State(rawValue: 1)
        /// Another file, or an older state of this one, has replaced the document's file; saves are refused. `revert(toContentsOf:)` adopts
        /// that file, `save(to:for: .forMoving)` keeps this document elsewhere.
        public static let inConflict = State(rawValue: 2)
        /// The last save failed; the changes are kept, and the next save tries again.
        public static let savingError = State(rawValue: 4)
        /// The document's file was removed; saves are refused. `save(to:for: .forMoving)` makes it again, here or elsewhere.
        public static let fileMissing = State(rawValue: 8)
    }

    /// The purpose of a save.
    public enum SaveOperation: Sendable {
        /// Makes the document's file and opens the document. No file may exist there.
        case forCreating
        /// Writes the changes to the document's own file.
        case forOverwriting
        /// Writes the document to a new file and continues there; the old file keeps its last saved state. ("Save As".)
        case forMoving
        /// Writes the changes to the document's own file, and copies that to a new file. ("Save To".)
        case forCopying
    }

    /// Posted on any thread when `documentState` has changed.
    public static let stateChangedNotification = Notification.Name("HeartwoodManagedDocumentStateChanged")
}

/// The errors of documents.
enum DocumentError {
    static func isOpen(_ url: URL) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOperationError, "The document at \(url.path) is open already; close it first.", [NSFilePathErrorKey: url.path])
    }

    static func isClosed(_ url: URL) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOperationError, "The document at \(url.path) is not open; open it first.", [NSFilePathErrorKey: url.path])
    }

    static func isMissing(_ url: URL) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOpenError, "There is no document at \(url.path). Check the URL, or make one with save(to:for: .forCreating).",
            [NSFilePathErrorKey: url.path])
    }

    static func isElsewhere(_ url: URL, _ own: URL) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOperationError,
            "The document's file is \(own.path), not \(url.path). To save it there, say whether it goes on there (.forMoving) or not "
                + "(.forCopying).", [NSFilePathErrorKey: url.path])
    }
}
