import Foundation
import Heartwood
import HeartwoodSQLite
import RecordLog

/// An error message of the tool and its exit code.
enum ToolError: Error {
    /// The command line is wrong: exit code 2.
    case usage(String)
    /// The data or the system is at fault: exit code 1.
    case failure(String)

    static func message(of error: any Error) -> String {
        switch error {
        case ToolError.usage(let text): withHelp(text)
        case ToolError.failure(let text): DisplayWidth.printable(text)
        // These descriptions have names and texts of stores in them.
        case let error as StoreError: DisplayWidth.printable(error.description)
        case let error as BackupError: DisplayWidth.printable(error.description)
        // The list of a model's versions has a line for each.
        case let error as NSError: DisplayWidth.printable(text(of: error).replacing("\n  ", with: " "))
        default: "\(error)"
        }
    }

    private static func text(of error: NSError) -> String {
        if let cause = error.userInfo[NSUnderlyingErrorKey] as? StoreError { return cause.description }
        let text = error.userInfo[NSLocalizedDescriptionKey] as? String ?? error.localizedDescription
        // The advice for a program names its options.
        guard error.domain == NSCocoaErrorDomain, let own = advice[error.code],
            let advice = error.userInfo[NSLocalizedRecoverySuggestionErrorKey] as? String, text.hasSuffix(advice)
        else { return text }
        return text.dropLast(advice.count) + own
    }

    /// The tool's remedies, by the code of the error.
    private static let advice = [
        NSPersistentStoreIncompatibleVersionHashError: "Leave --model out, since a store carries its model; or bring the store to this one first: "
            + "`heartwood migrate STORE --to MODEL`.",
        NSMigrationMissingMappingModelError: unrelatedModels,
    ]

    /// The remedy where a store would lose all objects to a model that has none of its entities.
    static let unrelatedModels = "If the new model is to replace the old one, give --allow-unrelated, or state the old names of entities "
        + "(renamingIdentifier) in the new model."

    /// Other components' messages end with a full stop, or with a line that points at a position.
    private static func withHelp(_ text: String) -> String {
        if text.contains("\n") { return text + "\n`--help` says more" }
        return (text.hasSuffix(".") ? String(text.dropLast()) : text) + "; `--help` says more"
    }

    /// Classifies a fetch's error: a request without meaning is wrong usage, a store that cannot be read is not.
    static func ofRequest(_ error: any Error) -> any Error {
        guard !(error is ToolError), !(error is Output.Ended), !(error is StoreError), (error as NSError).userInfo[NSUnderlyingErrorKey] == nil
        else { return error }
        // The store's file is at fault, not the request.
        guard (error as NSError).userInfo[NSFilePathErrorKey] == nil else { return error }
        // The message may have indented lines that point at a position in the request.
        let indentation = "\n    "
        let parts = text(of: error as NSError).replacing("\r\n", with: "\n").split(separator: indentation, omittingEmptySubsequences: false)
        return ToolError.usage(parts.map { DisplayWidth.printable(String($0)) }.joined(separator: indentation))
    }

    /// The message with exactly one full stop, so that text can follow.
    static func sentence(of error: any Error) -> String {
        let text = message(of: error)
        return text.hasSuffix(".") ? text : text + "."
    }

    static func exitCode(of error: any Error) -> Int32 {
        switch error {
        case ToolError.usage: 2
        case ToolError.failure: 1
        case let error as StoreError: code(error)
        case let error as BackupError: error.code == .invalidArgument ? 2 : 1
        case let error as NSError: (error.userInfo[NSUnderlyingErrorKey] as? StoreError).map(code) ?? (CoreDataFile.saysNoStore(error) ? 2 : 1)
        default: 1
        }
    }

    /// The exit code; a file that is not a store is wrong usage.
    private static func code(_ error: StoreError) -> Int32 {
        switch error.code {
        case .notAStore, .isDirectory, .notFound, .unsupportedVersion: 2
        default: 1
        }
    }
}
