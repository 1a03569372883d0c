import Foundation
import RecordLog

@testable import Heartwood

/// A temporary directory of a test, which is removed with it.
final class ScratchDirectory {
    let directory: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    subscript(_ name: String) -> URL { directory.appendingPathComponent(name) }

    /// The files in the directory with sizes and times, so that any writing shows.
    var contents: [String] {
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []).sorted()
        return names.map { name in
            let values = try? FileManager.default.attributesOfItem(atPath: self[name].path)
            return "\(name) \(values?[.size] ?? "") \(values?[.modificationDate] ?? "") \(values?[.systemFileNumber] ?? "")"
        }
    }

    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []).sorted() }
}

/// An error's code.
func code(_ error: (any Error)?) -> Int? {
    guard let error = error as NSError?, error.domain == NSCocoaErrorDomain else { return nil }
    return error.code
}

extension NSPersistentStoreCoordinator {
    func newContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = self
        return context
    }
}
