import Foundation

/// The version hashes of model files, each read once. A file that a `VersionInfo.plist` describes is not read itself.
struct KnownVersionHashes {
    /// By the path of the directory.
    private var infos: [String: VersionInfo?] = [:]
    /// Heartwood's, by the path of the model's file.
    private var hashes: [String: [String: Data]?] = [:]

    /// The hashes that the file beside a `.mom` states: Heartwood's or Core Data's. nil for none.
    mutating func stated(by url: URL) -> [String: Data]? { info(url)?.hashes[url.deletingPathExtension().lastPathComponent] }

    /// Heartwood's hashes of a model; nil if its file does not load.
    mutating func own(of url: URL) -> [String: Data]? {
        if let info = info(url), info.isOwn, let stated = info.hashes[url.deletingPathExtension().lastPathComponent] { return stated }
        if let known = hashes[url.path] { return known }
        let found = (try? NSManagedObjectModel.load(contentsOf: url))?.entityVersionHashesByName
        hashes[url.path] = .some(found)
        return found
    }

    private mutating func info(_ url: URL) -> VersionInfo? {
        guard url.pathExtension == "mom" else { return nil }
        let directory = url.deletingLastPathComponent()
        if let known = infos[directory.path] { return known }
        let found = VersionInfo(in: directory)
        infos[directory.path] = .some(found)
        return found
    }
}
