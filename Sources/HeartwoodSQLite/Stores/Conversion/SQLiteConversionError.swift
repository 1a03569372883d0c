import Foundation
import Heartwood
import RecordLog

/// Errors of conversions, with Core Data's codes.
enum SQLiteConversionError {
    /// 134111.
    static func repeated(_ path: String, _ findings: StoreFindings) -> NSError {
        let more = findings.count - findings.lines.count
        let list = (findings.lines + (more > 0 ? ["… and \(more) more"] : [])).map { "\n  " + $0 }.joined()
        return CoreDataError.make(
            NSMigrationConstraintViolationError,
            "\(path): nothing was converted, because objects have the same values of a uniqueness constraint. Remove them with the program that "
                + "wrote the store, or convert it with a version of the model that lacks the constraint:\(list)", [NSFilePathErrorKey: path])
    }

    /// Gives an error of writing the new store a remedy for the old one. The engine's remedies are about a store that is open.
    static func unwritten(_ error: any Error, _ path: String) -> any Error {
        guard let cause = error as? StoreError ?? (error as NSError).userInfo[NSUnderlyingErrorKey] as? StoreError else { return error }
        let remedy: String
        switch cause.code {
        case .noSpace: remedy = "Free about as much space as \(path) has, and try again. That store is as it was."
        case .readOnly, .permissionDenied:
            remedy = "Make the folder writable, and try again. \(path) is as it was, and can be read in place."
        default: return RecordLogErrors.wrapIfOfEngine(error)
        }
        return RecordLogErrors.wrap(StoreError(
            cause.code, path: cause.path, at: cause.offset, cause.message, remedy: remedy, errno: cause.systemErrno))
    }

    /// 134110.
    static func unsound(_ path: String, _ damage: String) -> NSError {
        CoreDataError.make(
            NSMigrationError,
            "\(path): nothing was converted, because the new file is not as it was written: \(damage). Check the disk, and try again.",
            [NSFilePathErrorKey: path])
    }

    /// 134110.
    static func manyNumbers(_ path: String) -> NSError {
        CoreDataError.make(
            NSMigrationError,
            "\(path): nothing was converted, because the greatest keys of its entities add up to more than 8,589,934,592, which a record log "
                + "cannot state. Check the keys: an app that gave so many is unlikely.", [NSFilePathErrorKey: path])
    }

    /// 134110, for a file that stands in the way of an exchange.
    static func inTheWay(_ path: String) -> NSError {
        CoreDataError.make(
            NSMigrationError, "The store was not converted, because its own file could not be kept: all names like \(path) are taken. Move these "
                + "files away.", [NSFilePathErrorKey: path])
    }
}
