import Foundation
internal import HeartwoodFileReading

/// Copies a model's source to the names that Xcode's compiler gives its output, so that code finds it: `NAME.momd` with a `VERSION.mom` for each
/// version and a `VersionInfo.plist` for an `.xcdatamodeld`, `NAME.mom` for an `.xcdatamodel`, `NAME.cdm` for an `.xcmappingmodel`.
///
/// The contents stay as Xcode's editor wrote them, but for classes of the "Current Product Module", which get the module's name as there. Heartwood recognizes the format by the bytes; Core Data cannot read these files.
public enum ModelCompiler {
    /// Returns the name of the output; nil where a path is no source of a model.
    public static func name(of path: String) -> String? {
        let url = URL(fileURLWithPath: path)
        guard let ending = endings[url.pathExtension] else { return nil }
        return url.deletingPathExtension().lastPathComponent + "." + ending
    }

    private static let endings = ["xcdatamodeld": "momd", "xcdatamodel": "mom", "xcmappingmodel": "cdm"]

    /// - Parameters:
    ///   - output: the file or folder to write; files of other versions in it are removed.
    ///   - module: the module of the classes whose names start with a point; nil to leave these names.
    ///   - hashes: returns the entities' hashes of a version, whose file is given; nil to write none for it.
    /// - Throws: `CodeError` where a file is missing or the current version is unknown; errors of the file system.
    public static func compile(
        _ path: String, to output: String, module: String? = nil, hashes: (_ contents: String) throws -> [String: Data]?
    ) throws {
        guard path.hasSuffix(".xcdatamodeld") else {
            let file = path.hasSuffix(".xcmappingmodel") ? path + "/xcmapping.xml" : try contents(of: path)
            return try write(try bytes(file, module), to: output)
        }
        let versions = ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).filter { $0.hasSuffix(".xcdatamodel") }.sorted()
        // Throws where several versions exist and none is marked as current.
        let current = URL(fileURLWithPath: try CodeModelReader.contentsPath(path)).deletingLastPathComponent()
        try FileManager.default.createDirectory(atPath: output, withIntermediateDirectories: true)
        var files = [infoName], known: [(name: String, hashes: [String: Data])] = []
        for version in versions {
            let name = String(version.dropLast(".xcdatamodel".count))
            let contents = try contents(of: "\(path)/\(version)")
            try write(try bytes(contents, module), to: "\(output)/\(name).mom")
            files.append("\(name).mom")
            if let hashes = try hashes(contents) { known.append((name, hashes)) }
        }
        let info = info(current.deletingPathExtension().lastPathComponent, known)
        try write(Data(info.utf8), to: "\(output)/\(infoName)")
        for name in try FileManager.default.contentsOfDirectory(atPath: output) where !files.contains(name) {
            try FileManager.default.removeItem(atPath: "\(output)/\(name)")
        }
    }

    private static let infoName = "VersionInfo.plist"

    /// Returns the file of a version. Xcode 3 wrote `elements` instead of `contents`.
    private static func contents(of version: String) throws -> String {
        guard let found = ["contents", "elements"].map({ "\(version)/\($0)" }).first(where: { FileManager.default.fileExists(atPath: $0) }) else {
            throw CodeError(version, nil, "holds no model; open and save it in Xcode.")
        }
        return found
    }

    private static func bytes(_ path: String, _ module: String?) throws -> Data {
        guard let data = FileManager.default.contents(atPath: path) else { throw CodeError(path, nil, "cannot be read; check the path.") }
        guard let module, !data.starts(with: BinaryPropertyList.magic) else { return data }
        // The editor writes attributes in this form, and a quote inside of a value as an entity.
        let start = Data(" representedClassName=\"".utf8)
        var result = Data(), rest = data[...]
        while let found = rest.range(of: start + Data(".".utf8)) {
            result += rest[..<found.lowerBound] + start + Data("\(module).".utf8)
            rest = rest[found.upperBound...]
        }
        return result + rest
    }

    /// Leaves a file with the same contents as it is, so that its dependents are not rebuilt.
    private static func write(_ data: Data, to path: String) throws {
        guard FileManager.default.contents(atPath: path) != data else { return }
        try data.write(to: URL(fileURLWithPath: path))
    }

    /// The comment tells a reader that the hashes are not Core Data's; see `VersionInfo`.
    private static func info(_ current: String, _ versions: [(name: String, hashes: [String: Data])]) -> String {
        func escaped(_ text: String) -> String { text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;") }
        let list = versions.map { version in
            "<key>\(escaped(version.name))</key><dict>" + version.hashes.sorted { $0.key < $1.key }.map { name, hash in
                "<key>\(escaped(name))</key><data>\(hash.base64EncodedString())</data>"
            }.joined() + "</dict>"
        }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <!-- The hashes are Heartwood's. -->
            <plist version="1.0"><dict>
            <key>NSManagedObjectModel_CurrentVersionName</key><string>\(escaped(current))</string>
            <key>NSManagedObjectModel_VersionHashes</key><dict>
            \(list.joined(separator: "\n"))
            </dict>
            </dict></plist>

            """
    }
}
