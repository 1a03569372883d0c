import Foundation
internal import SQLiteFile

/// Files of Core Data's, as tools tell them from record logs.
package enum CoreDataFile {
    /// The advice for a command that cannot change such a file.
    package static let conversion = CoreDataFileError.conversion

    /// Whether a file is a database of SQLite by its first bytes, or looks like an encrypted one.
    package static func isDatabase(_ url: URL) -> Bool {
        let path = url.resolvingSymlinksInPath().path
        // A pipe would lose the bytes.
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path), attributes[.type] as? FileAttributeType == .typeRegular,
            let size = (attributes[.size] as? NSNumber)?.uint64Value, let handle = FileHandle(forReadingAtPath: path)
        else { return false }
        defer { try? handle.close() }
        guard let start = try? handle.read(upToCount: 1024), start.count >= 16 else { return false }
        return DatabaseHeader.isPossible(Array(start), fileSize: size)
    }

    /// Whether an error says that a file is no store of Core Data's, and not that a store is damaged.
    package static func saysNoStore(_ error: NSError) -> Bool {
        if let file = error.userInfo[NSUnderlyingErrorKey] as? SQLiteFileError {
            return [.notFound, .notADatabase, .encrypted, .tooShort, .unsupportedVersion].contains(file.code)
        }
        return error.userInfo[CoreDataFileError.tablesKey] != nil
    }
}

extension CoreDataStoreModel {
    /// The configuration of the model whose entities are the store's; nil if the store has all entities.
    package func configuration(ofStoreAt path: String) throws -> String? {
        do {
            let file = try SQLiteFile.open(path: path), numbers = try file.read { try EntityNumbers(file) }
            let names = Set(numbers.entries.filter { $0.number < EntityNumbers.bookkeepingMin }.map(\.name))
            guard names.count < model.entities.count else { return nil }
            return model.configurations.first { name in
                name != NSManagedObjectModel.defaultConfigurationName
                    && Set((model.entities(forConfigurationName: name) ?? []).compactMap(\.name)) == names
            }
        } catch {
            throw CoreDataFileError.wrapIfOfFile(error, opening: true)
        }
    }
}
