import Foundation

/// Finds a model file by the container's name.
enum ModelFinder {
    static func model(named name: String) throws -> NSManagedObjectModel {
        var directories: [URL] = []
        if let resources = Bundle.main.resourceURL { directories.append(resources) }
        if let executable = Bundle.main.executableURL { directories.append(executable.deletingLastPathComponent()) }
        directories.append(URL(fileURLWithPath: FileManager.default.currentDirectoryPath))
        var tried: [String] = []
        for directory in directories {
            for ending in ModelFile.endings {
                let url = directory.appendingPathComponent("\(name).\(ending)")
                guard !tried.contains(url.path) else { continue }
                if FileManager.default.fileExists(atPath: url.path) { return try NSManagedObjectModel.load(contentsOf: url) }
                tried.append(url.path)
            }
        }
        throw CoreDataError.make(
            NSPersistentStoreOpenError,
            "There is no model named \(name). Looked for \(tried.joined(separator: ", ")). Put the model there, or give the "
                + "container a model with init(name:managedObjectModel:).")
    }
}
