import Foundation
import Heartwood
import HeartwoodSQLite
import RecordLog

/// The commands' policy for stores of Core Data's own, in SQLite: they read such a file in place, and change nothing of it.
enum CoreDataStore {
    static let option = Parameter.text(
        "model", "M", .model, "the model of a Core Data store without a model cache: an .xcdatamodeld, .xcdatamodel, .momd or .mom")

    /// Whether a file is a database of SQLite by its bytes; its name does not matter.
    static func isOne(_ path: String) -> Bool { CoreDataFile.isDatabase(URL(fileURLWithPath: path)) }

    /// The model of a store. Standard error says if it is guessed, so that output can be piped.
    /// - Parameters:
    ///   - given: the path of a model file.
    ///   - isShown: whether the user wants to see the model, and so each guess.
    static func model(_ path: String, given: String?, isShown: Bool = false) throws -> CoreDataStoreModel {
        let found = try CoreDataStoreModel.find(storeAt: path, given: try given.map(file))
        if found.mayLackLog {
            let name = URL(fileURLWithPath: path).lastPathComponent
            Output.warning(
                "\(path) has never had an object. Its header says that SQLite keeps a write-ahead log for it, and none is beside it: if the app was "
                    + "running when it was copied, copy \(name)-wal together with it")
        }
        guard let reason = found.guessReason else {
            for guess in found.guesses { Output.warning(guess) }
            return found
        }
        if isShown {
            Output.warning("the model is guessed from the tables of \(path), which do not tell everything:")
            for guess in [reason] + found.guesses + ReferenceDoubts.lines(found.doubts) { Output.error("  \(DisplayWidth.printable(guess))") }
        } else {
            let references = found.doubts.isEmpty ? "" : ", \(Output.count(found.doubts.count, "relationship")) without being sure"
            Output.warning(
                "the model is guessed from the tables of \(path)\(references); `heartwood model` says what is not certain, and --model names the "
                    + "store's model")
        }
        return found
    }

    /// - Throws: if there is no such file.
    static func file(_ path: String) throws -> URL {
        guard FileManager.default.fileExists(atPath: path) else { throw ToolError.usage("there is no \(path)") }
        return URL(fileURLWithPath: path)
    }

    /// Refuses a command that would change the file.
    /// - Parameter instead: the advice, as a sentence without its end.
    static func refuse(_ path: String, _ instead: String) throws {
        guard isOne(path) else { return }
        throw ToolError.usage("\(path) is an SQLite database, which Heartwood only reads; \(instead)")
    }

    static func conversion(_ path: String) -> String {
        let new = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent + ".heartwood"
        return "convert it with `heartwood convert \(ShellWord.quoted(path)) -o \(ShellWord.quoted(new))`"
    }
}
