import Foundation
import RecordLog

/// Errors of conversions, with Core Data's codes.
enum SQLiteConversionError {
    /// 134111.
    static func repeated(_ path: String, _ findings: CoreDataFindings) -> NSError {
        let more = findings.count - findings.lines.count
        let list = (findings.lines + (more > 0 ? ["… and \(more) more"] : [])).map { "\n  " + $0 }.joined()
        return CoreDataError.make(
            NSMigrationConstraintViolationError,
            "\(path): nothing was converted, because objects have the same values of a uniqueness constraint. Remove them with the program that "
                + "wrote the store, or convert it with a version of the model that lacks the constraint:\(list)", [NSFilePathErrorKey: path])
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
