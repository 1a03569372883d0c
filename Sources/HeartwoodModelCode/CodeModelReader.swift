import Foundation
internal import HeartwoodFileReading

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// Reads a model file for code generation.
///
/// This is not the stack's reader: to use that one, the build plugin would compile the whole stack a second time, for the host. Only names and
/// types matter here. Other faults of a model are refused by the stack at run time.
public final class CodeModelReader: NSObject, XMLParserDelegate {
    private let path: String
    private var model: CodeModel
    private var entity: CodeModel.Entity?
    private var sawModel = false
    private var syntaxLine: Int?
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
        do {
            try XMLCheck.check(data, kind: "model files")
        } catch {
            throw CodeError(contents, error.line, "column \(error.column): \(error.reason).")
        }
        let parser = XMLParser(data: data)
        parser.shouldResolveExternalEntities = false
        let reader = CodeModelReader(path: contents)
        parser.delegate = reader
        let isWhole = parser.parse()
        if let error = reader.error { throw error }
        guard isWhole, reader.sawModel, reader.syntaxLine == nil else {
            throw CodeError(contents, max(reader.syntaxLine ?? parser.lineNumber, 1), "is not a model file; open and save it in Xcode.")
        }
        return try reader.model.checked()
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
            guard let name = PropertyListTexts.read(data)?["_XCCurrentVersionName"], versions.contains(name) else {
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
        let stated = FileManager.default.contents(atPath: marker).flatMap { PropertyListTexts.read($0)?["NSManagedObjectModel_CurrentVersionName"] }
        guard let name = stated.map({ $0 + ".mom" }) ?? (versions.count == 1 ? versions[0] : nil), versions.contains(name) else {
            throw CodeError(marker, nil, "does not name one of the \(versions.count) versions; give one of them.")
        }
        return "\(path)/\(name)"
    }

    // MARK: XMLParserDelegate

    public func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {
        syntaxLine = syntaxLine ?? parser.lineNumber
    }

    public func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes values: [String: String]
    ) {
        let line = parser.lineNumber
        switch name {
        case "model": sawModel = true
        case "entity":
            let entityName = identifier(values["name"], "entity", parser)
            let declared = values["representedClassName"].flatMap { $0.isEmpty ? nil : $0 } ?? "NSManagedObject"
            let className = declared.split(separator: ".").last.map(String.init) ?? entityName
            entity = CodeModel.Entity(
                name: entityName, className: identifier(className, "class", parser), parent: values["parentEntity"],
                generation: values["codeGenerationType"].flatMap(CodeModel.Entity.Generation.init) ?? .none, line: line)
        case "attribute":
            // Elements of a composite type are outside entities.
            entity?.attributes.append(CodeModel.Attribute(
                name: identifier(values["name"], "attribute", parser), type: values["attributeType"],
                isScalar: values["usesScalarValueType"] == "YES", customClass: typeName(values["customClassName"], parser),
                line: line))
        case "relationship":
            let isToMany = values["maxCount"].flatMap(Int.init).map { $0 != 1 } ?? (values["toMany"] == "YES")
            entity?.relationships.append(CodeModel.Relationship(
                name: identifier(values["name"], "relationship", parser), destination: values["destinationEntity"] ?? "",
                isToMany: isToMany, isOrdered: values["ordered"] == "YES", line: line))
        case "fetchedProperty": entity?.fetchedProperties.append(identifier(values["name"], "fetchedProperty", parser))
        default: break
        }
    }

    public func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        guard name == "entity", let entity else { return }
        model.entities.append(entity)
        self.entity = nil
    }

    /// Returns a name for use in code. Refuses a name that is no identifier.
    private func identifier(_ text: String?, _ element: String, _ parser: XMLParser) -> String {
        let text = text ?? ""
        if !SwiftNames.isIdentifier(text) {
            refuse("\(element): the name \"\(SwiftNames.shown(text))\" is no Swift identifier; rename it.", parser)
        }
        return text
    }

    /// Returns the class of a transformable attribute's values, as code; nil where none is declared.
    private func typeName(_ text: String?, _ parser: XMLParser) -> String? {
        guard let text, !text.isEmpty else { return nil }
        let code = SwiftNames.type(text)
        if code == nil { refuse("attribute: the class \"\(SwiftNames.shown(text))\" is no Swift type; change it.", parser) }
        return code
    }

    private func refuse(_ message: String, _ parser: XMLParser) {
        guard error == nil else { return }
        error = CodeError(path, parser.lineNumber, message)
        parser.abortParsing()
    }
}
