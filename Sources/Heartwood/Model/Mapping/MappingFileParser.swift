import Foundation
internal import HeartwoodFileReading

/// A parser of the `xcmapping.xml` in an `.xcmappingmodel`.
final class MappingFileParser {
    /// One object of the XML store: the texts of its attributes, and the identifiers that its relationships name.
    private struct Object {
        let type: String
        var values: [String: String] = [:]
        var references: [String: [String]] = [:]

        /// nil for an empty text too.
        subscript(name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }
        var number: Int { self["mappingnumber"].flatMap { Int($0) } ?? 0 }
    }

    private let data: Data
    private let path: String
    private var objects: [String: Object] = [:]
    private var object: (id: String, object: Object)?
    /// The attribute whose text is being read.
    private var attribute: String?
    private var text = ""

    init(data: Data, path: String) {
        self.data = data
        self.path = path
    }

    private func failure(_ message: String) -> NSError { ModelFile.failure("\(path): \(message)") }

    func parse() throws -> MappingDocument {
        do throws(XMLReader.Fault) {
            var reader = try XMLReader([UInt8](data), kind: "mapping models", mayHaveType: true)
            while let event = try reader.next() {
                switch event {
                case .start(let name, let values): start(name, values)
                case .text(let part): if attribute != nil { text += part }
                case .end(let name): end(name)
                }
            }
        } catch {
            throw failure(
                error.isMalformed
                    ? "line \(error.line): is not a mapping model (the XML is not well-formed)."
                    : "line \(error.line), column \(error.column): \(error.reason).")
        }
        guard let root = objects.values.first(where: { $0.type == "XDDEVMAPPINGMODEL" }) else { throw failure("holds no mapping model.") }
        var document = MappingDocument()
        document.sourcePath = root.values[MappingDocument.sourcePathName]
        document.destinationPath = root.values[MappingDocument.destinationPathName]
        let listed = (root.references["entitymappings"] ?? []).compactMap { objects[$0] }
        let ordered = listed.sorted { $0.number < $1.number }
        document.entities = try ordered.map(entity)
        return document
    }

    private func entity(_ object: Object) throws -> MappingDocument.Entity {
        let source = object["sourcename"], destination = object["destinationname"]
        let name = object["name"] ?? [source, destination].compactMap(\.self).joined(separator: "To")
        return MappingDocument.Entity(
            name: name, source: source, destination: destination, type: Self.types[object["mappingtypename"] ?? ""] ?? .undefinedEntityMappingType,
            policy: object["migrationpolicyclassname"], predicate: object["sourcefilterpredicatestring"],
            sourceExpression: try expression(object["sourceexpressiondata"], of: "the source of \(name)"),
            attributes: try properties(object.references["attributemappings"], of: name),
            relationships: try properties(object.references["relationshipmappings"], of: name),
            userInfo: try userInfo(object, of: name))
    }

    /// By the editor's names.
    private static let types: [String: NSEntityMappingType] = [
        "Custom": .customEntityMappingType, "Add": .addEntityMappingType, "Remove": .removeEntityMappingType, "Copy": .copyEntityMappingType,
        "Transform": .transformEntityMappingType,
    ]

    private func properties(_ references: [String]?, of entity: String) throws -> [MappingDocument.Property] {
        try (references ?? []).compactMap { objects[$0] }.compactMap { object in
            guard let name = object["name"] else { return nil }
            let element = "\(entity).\(name)"
            return MappingDocument.Property(
                name: name, expression: try expression(object["valueexpressiondata"], of: element),
                keyPath: try object["sourcekeypath"].map { try keyPath($0, of: element) }, mappingName: object["sourcemappingname"],
                userInfo: try userInfo(object, of: element))
        }
    }

    private func keyPath(_ text: String, of element: String) throws -> ExpressionNode {
        let format = text.hasPrefix("$") ? text : "$\(NSMigrationSourceObjectKey).\(text)"
        do {
            return try PredicateParser.parseExpression(format, arguments: []).0
        } catch {
            throw failure("\(element): the key path \"\(text)\" cannot be read: \(error)")
        }
    }

    private func archive(_ text: String, of element: String) throws -> KeyedArchive {
        guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else { throw failure("\(element): data are not in base 64.") }
        return try KeyedArchive(Array(data), path: "\(path) (\(element))")
    }

    private func expression(_ text: String?, of element: String) throws -> ExpressionNode? {
        guard let text else { return nil }
        return try CompiledPredicateReader(path: path, of: element).expression(try archive(text, of: element).root())
    }

    private func userInfo(_ object: Object, of element: String) throws -> [AnyHashable: Any]? {
        guard let text = object["userinfodata"], let dictionary = try archive(text, of: element).foundationRoot() as? NSDictionary
        else { return nil }
        var info: [AnyHashable: Any] = [:]
        for (key, value) in dictionary { if let key = key as? String { info[key] = value } }
        return info
    }

    // MARK: Elements

    private func start(_ name: String, _ values: [String: String]) {
        switch name {
        case "object": if let id = values["id"] { object = (id, Object(type: values["type"]?.uppercased() ?? "")) }
        case "attribute":
            // The copies of the models are large, and ignored.
            let named = values["name"]?.lowercased()
            attribute = named == "sourcemodeldata" || named == "destinationmodeldata" ? nil : named
            text = ""
        case "relationship":
            guard let named = values["name"]?.lowercased(), let list = values["idrefs"] else { return }
            object?.object.references[named] = list.split(separator: " ").map(String.init)
        default: break
        }
    }

    private func end(_ name: String) {
        switch name {
        case "object":
            if let object { objects[object.id] = object.object }
            object = nil
        case "attribute":
            if let attribute { object?.object.values[attribute] = text }
            attribute = nil
        default: break
        }
    }
}
