import Foundation
internal import HeartwoodFileReading

/// Reads a model file for code generation.
///
/// This is not the stack's reader: to use that one, the build plugin would compile the whole stack a second time, for the host. Only names and
/// types matter here. Other faults of a model are refused by the stack at run time.
public final class CodeModelReader {
    private let path: String
    private var model: CodeModel
    private var entity: CodeModel.Entity?
    private var sawModel = false
    /// The line of the element that is read.
    private var line = 1
    private var error: CodeError?

    private init(path: String) {
        self.path = path
        model = CodeModel(path: path)
    }

    /// - Parameter path: an `.xcdatamodeld` (for its current version), an `.xcdatamodel`, a `contents` file, a `.momd` or a `.mom`.
    /// - Throws: `CodeError` with the file, and with the line if the file is a text.
    public static func read(_ path: String) throws -> CodeModel {
        let contents = try contentsPath(path)
        guard let data = FileManager.default.contents(atPath: contents) else {
            let former = URL(fileURLWithPath: contents).deletingLastPathComponent().appendingPathComponent("elements").path
            throw FileManager.default.fileExists(atPath: former)
                ? CodeError(former, nil, "is as Xcode 3 wrote models, of which no code is generated; open and save it in Xcode.")
                : CodeError(contents, nil, "cannot be read; check the path.")
        }
        guard !data.starts(with: BinaryPropertyList.magic) else { return try ArchivedCodeModel.read(Array(data), path: contents) }
        let reader = CodeModelReader(path: contents)
        try reader.read(data)
        return try reader.model.checked()
    }

    private func read(_ data: Data) throws {
        do throws(XMLReader.Fault) {
            try XMLReader.elements(of: data, kind: "model files", while: { error == nil }, start: start, end: end)
        } catch {
            throw error.isMalformed ? Self.noModel(path, error.line) : CodeError(path, error.line, "column \(error.column): \(error.reason).")
        }
        if let error { throw error }
        guard sawModel else { throw Self.noModel(path, line) }
    }

    private static func noModel(_ path: String, _ line: Int) -> CodeError {
        CodeError(path, line, "is not a model file; open and save it in Xcode.")
    }

    /// Returns the path of the current version's file.
    public static func contentsPath(_ path: String) throws -> String {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            throw CodeError(path, nil, "there is no such model; check the path.")
        }
        guard isDirectory.boolValue else { return path }
        let direct = path + "/contents"
        if FileManager.default.fileExists(atPath: direct) || FileManager.default.fileExists(atPath: path + "/elements") { return direct }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        let versions = names.filter { $0.hasSuffix(".xcdatamodel") }
        if versions.isEmpty, names.contains(where: { $0.hasSuffix(".mom") }) { return try compiledPath(path, names) }
        let marker = path + "/.xccurrentversion"
        if let data = FileManager.default.contents(atPath: marker) {
            guard let name = PropertyListLeaves.texts(data)?["_XCCurrentVersionName"], versions.contains(name) else {
                throw CodeError(marker, nil, "does not name one of the versions; set the current version in Xcode.")
            }
            return "\(path)/\(name)/contents"
        }
        guard versions.count == 1 else {
            throw CodeError(path, nil, "holds \(versions.count) versions and does not say which is current; set it in Xcode, or give one.")
        }
        return "\(path)/\(versions[0])/contents"
    }

    /// Returns the path of the current version in a `.momd`. Xcode names none if there is only one.
    private static func compiledPath(_ path: String, _ names: [String]) throws -> String {
        let versions = names.filter { $0.hasSuffix(".mom") }, marker = path + "/VersionInfo.plist"
        let stated = FileManager.default.contents(atPath: marker).flatMap { PropertyListLeaves.texts($0)?["NSManagedObjectModel_CurrentVersionName"] }
        guard let name = stated.map({ $0 + ".mom" }) ?? (versions.count == 1 ? versions[0] : nil), versions.contains(name) else {
            throw CodeError(marker, nil, "does not name one of the \(versions.count) versions; give one of them.")
        }
        return "\(path)/\(name)"
    }

    // MARK: Elements

    private func start(_ name: String, _ values: [String: String], _ line: Int) {
        self.line = line
        switch name {
        case "model": sawModel = true
        case "entity":
            let entityName = identifier(values["name"], "entity")
            let declared = values["representedClassName"].flatMap { $0.isEmpty ? nil : $0 } ?? "NSManagedObject"
            let className = declared.split(separator: ".").last.map(String.init) ?? entityName
            entity = CodeModel.Entity(
                name: entityName, className: identifier(className, "class"), parent: values["parentEntity"],
                generation: values["codeGenerationType"].flatMap(CodeModel.Entity.Generation.init) ?? .none, line: line)
        case "attribute":
            // Elements of a composite type are outside entities.
            entity?.attributes.append(CodeModel.Attribute(
                name: identifier(values["name"], "attribute"), type: values["attributeType"],
                isScalar: values["usesScalarValueType"] == "YES", customClass: typeName(values["customClassName"]),
                line: line))
        case "relationship":
            let isToMany = values["maxCount"].flatMap(Int.init).map { $0 != 1 } ?? (values["toMany"] == "YES")
            entity?.relationships.append(CodeModel.Relationship(
                name: identifier(values["name"], "relationship"), destination: values["destinationEntity"] ?? "",
                isToMany: isToMany, isOrdered: values["ordered"] == "YES", line: line))
        case "fetchedProperty": entity?.fetchedProperties.append(identifier(values["name"], "fetchedProperty"))
        default: break
        }
    }

    private func end(_ name: String) {
        guard name == "entity", let entity else { return }
        model.entities.append(entity)
        self.entity = nil
    }

    /// Returns a name for use in code. Refuses a name that is no identifier.
    private func identifier(_ text: String?, _ element: String) -> String {
        let text = text ?? ""
        if !SwiftNames.isIdentifier(text) {
            refuse("\(element): the name \"\(SwiftNames.shown(text))\" is no Swift identifier; rename it.")
        }
        return text
    }

    /// Returns the class of a transformable attribute's values, as code; nil where none is declared.
    private func typeName(_ text: String?) -> String? {
        guard let text, !text.isEmpty else { return nil }
        let code = SwiftNames.type(text)
        if code == nil { refuse("attribute: the class \"\(SwiftNames.shown(text))\" is no Swift type; change it.") }
        return code
    }

    private func refuse(_ message: String) {
        if error == nil { error = CodeError(path, line, message) }
    }
}
