import Foundation
internal import HeartwoodFileReading

/// Finds and reads the file with a model's contents.
package enum ModelFile {
    /// The file name endings that `read(_:)` accepts, source files first.
    static let endings = ["xcdatamodeld", "xcdatamodel", "momd", "mom"]

    /// In bytes. The largest real models have a few megabytes.
    private static let sizeMax = 256 << 20

    /// Hears of each file that is read, for tests of cost.
    @TaskLocal package static var hearRead: (@Sendable (URL) -> Void)?

    /// - Throws: if there is no model or if it does not parse; the error names the file, the element and the line.
    package static func read(_ url: URL) throws -> ModelDocument {
        let contents = try contentsURL(of: url)
        hearRead?(contents)
        let data: Data
        do {
            let size = try contents.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
            guard size <= sizeMax else { throw failure("\(contents.path): has \(size) bytes, more than any model; it was not read.") }
            data = try Data(contentsOf: contents)
        } catch let error as NSError where error.domain == NSCocoaErrorDomain && error.code == NSPersistentStoreOpenError {
            throw error
        } catch {
            throw failure("\(contents.path): cannot be read (\(error.localizedDescription)); check the path.")
        }
        if data.starts(with: BinaryPropertyList.magic) {
            let archive = try KeyedArchive(Array(data), path: contents.path)
            return try EditorModelReader.isModel(archive)
                ? EditorModelReader(archive, path: contents.path).read() : CompiledModelReader(archive, path: contents.path).read()
        }
        return try ModelFileParser(data: data, path: contents.path).parse()
    }

    /// All versions of a model: the files in an `.xcdatamodeld` or a `.momd`, otherwise the file itself.
    package static func versions(of url: URL) -> [URL] {
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted()
        let versions = names.filter { $0.hasSuffix(".xcdatamodel") || $0.hasSuffix(".mom") }
        return versions.isEmpty ? [url] : versions.map { url.appendingPathComponent($0) }
    }

    static func isThere(_ url: URL) -> Bool { FileManager.default.fileExists(atPath: url.path) }

    static func failure(_ message: String) -> NSError {
        CoreDataError.make(NSPersistentStoreOpenError, message)
    }

    /// Xcode 3's name for `contents`.
    private static let formerContents = "elements"

    /// The file to read: `contents` of an `.xcdatamodel`, or a `.mom` itself. For an `.xcdatamodeld` or a `.momd` that of the current version.
    private static func contentsURL(of url: URL) throws -> URL {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory) else {
            throw failure("\(url.path): there is no such model; check the path.")
        }
        guard isDirectory.boolValue else { return url }
        let direct = url.appendingPathComponent("contents")
        if FileManager.default.fileExists(atPath: direct.path) { return direct }
        let former = url.appendingPathComponent(formerContents)
        if FileManager.default.fileExists(atPath: former.path) { return former }
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted()
        let versions = names.filter { $0.hasSuffix(".xcdatamodel") }, compiled = names.filter { $0.hasSuffix(".mom") }
        guard !versions.isEmpty || compiled.isEmpty else {
            return try currentVersion(
                in: url, among: compiled, marker: VersionInfo.fileName, key: VersionInfo.currentKey, ending: ".mom")
        }
        let version = try currentVersion(in: url, among: versions, marker: ".xccurrentversion", key: "_XCCurrentVersionName", ending: "")
        let contents = version.appendingPathComponent("contents"), alternative = version.appendingPathComponent(formerContents)
        let isFormer = !FileManager.default.fileExists(atPath: contents.path) && FileManager.default.fileExists(atPath: alternative.path)
        return isFormer ? alternative : contents
    }

    /// - Parameter ending: the ending that the marker omits from a version's name.
    private static func currentVersion(
        in url: URL, among versions: [String], marker: String, key: String, ending: String
    ) throws -> URL {
        let marker = url.appendingPathComponent(marker)
        if let data = try? Data(contentsOf: marker) {
            let list = PropertyListLeaves.texts(data)
            // Xcode names no current version if a compiled model has only one.
            if let list, list[key] == nil, versions.count == 1 { return url.appendingPathComponent(versions[0]) }
            guard let name = list?[key], versions.contains(name + ending) else {
                throw failure("\(marker.path): does not name one of the versions \(versions); set the current version in Xcode.")
            }
            return url.appendingPathComponent(name + ending)
        }
        guard versions.count == 1 else {
            throw failure(
                versions.isEmpty
                    ? "\(url.path): holds no version of a model."
                    : "\(url.path): holds \(versions.count) versions and does not say which is current; set it in Xcode, or give one of "
                        + "them.")
        }
        return url.appendingPathComponent(versions[0])
    }
}
