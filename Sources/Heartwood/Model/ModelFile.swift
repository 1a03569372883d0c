import Foundation

/// Finds the XML of a model file and reads it.
enum ModelFile {
    static func read(_ url: URL) throws -> ModelDocument {
        let contents = try contentsURL(of: url)
        let data: Data
        do {
            data = try Data(contentsOf: contents)
        } catch {
            throw failure("\(contents.path): cannot be read (\(error.localizedDescription)); check the path.")
        }
        return try ModelFileParser(data: data, path: contents.path).parse()
    }

    static func failure(_ message: String) -> NSError {
        CoreDataError.make(NSPersistentStoreOpenError, message)
    }

    /// `contents` of an `.xcdatamodel`; of the current version in an `.xcdatamodeld`.
    private static func contentsURL(of url: URL) throws -> URL {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory) else {
            throw failure("\(url.path): there is no such model; check the path.")
        }
        guard isDirectory.boolValue else { return url }
        let direct = url.appendingPathComponent("contents")
        if FileManager.default.fileExists(atPath: direct.path) { return direct }
        return try currentVersion(in: url).appendingPathComponent("contents")
    }

    private static func currentVersion(in url: URL) throws -> URL {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
        let versions = names.filter { $0.hasSuffix(".xcdatamodel") }.sorted()
        let marker = url.appendingPathComponent(".xccurrentversion")
        if let data = try? Data(contentsOf: marker) {
            let list = try? PropertyListSerialization.propertyList(from: data, options: [], format: nil) as? [String: Any]
            guard let name = list?["_XCCurrentVersionName"] as? String, versions.contains(name) else {
                throw failure("\(marker.path): does not name one of the versions \(versions); set the current version in Xcode.")
            }
            return url.appendingPathComponent(name)
        }
        guard versions.count == 1 else {
            throw failure(
                "\(url.path): holds \(versions.count) versions and does not say which is current; set it in Xcode, or give one of them.")
        }
        return url.appendingPathComponent(versions[0])
    }
}
