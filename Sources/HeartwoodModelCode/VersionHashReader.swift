import Foundation
internal import HeartwoodDigests
internal import HeartwoodFileReading

/// Reads the statements of a model's file that are part of its entities' version hashes.
final class VersionHashReader {
    private let path: String
    private(set) var model: VersionModel
    private var entity: VersionModel.Entity?
    private var composite: (name: String, attributes: [VersionModel.Attribute])?
    private var constraint: [String]?
    /// The line of the element that is read.
    private var line = 1
    private var error: CodeError?

    private init(path: String) {
        self.path = path
        model = VersionModel(path: path)
    }

    /// Returns the hashes that `entityVersionHashesByName` gives for the model, by the names of entities.
    /// - Parameter path: the text file of one version.
    /// - Throws: `CodeError` for a file in another format, and for a statement whose meaning only the stack knows.
    static func hashes(_ path: String) throws -> [String: Data] {
        guard let data = FileManager.default.contents(atPath: path) else { throw CodeError(path, nil, "cannot be read; check the path.") }
        guard !data.starts(with: BinaryPropertyList.magic) else { throw CodeError(path, nil, "is as Xcode 3 wrote models.") }
        let reader = VersionHashReader(path: path)
        try reader.read(data)
        return try reader.model.hashes()
    }

    private func read(_ data: Data) throws {
        do throws(XMLReader.Fault) {
            try XMLReader.elements(of: data, kind: "model files", while: { error == nil }, start: start, end: end)
        } catch {
            throw CodeError(path, error.line, error.isMalformed ? "the XML is not well-formed." : "column \(error.column): \(error.reason).")
        }
        if let error { throw error }
    }

    private func start(_ name: String, _ values: [String: String], _ line: Int) {
        self.line = line
        switch name {
        case "entity":
            entity = VersionModel.Entity(
                name: values["name"] ?? "", modifier: values["versionHashModifier"], isAbstract: values["isAbstract"] == "YES",
                parent: values["parentEntity"], line: line)
        case "attribute": startAttribute(values)
        case "relationship": startRelationship(values)
        case "uniquenessConstraint": constraint = []
        case "constraint": if let value = values["value"] { constraint?.append(value) }
        case "composite": composite = (values["name"] ?? "", [])
        default: break
        }
    }

    private func end(_ name: String) {
        switch name {
        case "entity":
            if let entity { model.entities.append(entity) }
            entity = nil
        case "uniquenessConstraint":
            if let constraint, !constraint.isEmpty { entity?.constraints.append(constraint) }
            constraint = nil
        case "composite":
            if let composite, model.composites[composite.name] == nil { model.composites[composite.name] = composite.attributes }
            composite = nil
        default: break
        }
    }

    private func fail(_ message: String) {
        if error == nil { error = CodeError(path, line, message) }
    }

    private func property(_ values: [String: String]) -> VersionText.Property {
        VersionText.Property(
            name: values["name"] ?? "", isOptional: values["optional"] == "YES", isTransient: values["transient"] == "YES",
            modifier: values["versionHashModifier"])
    }

    private func startAttribute(_ values: [String: String]) {
        guard let type = ArchivedCodeModel.rawType(values["attributeType"]) else {
            return fail("attribute \(values["name"] ?? ""): the type \"\(SwiftNames.shown(values["attributeType"] ?? ""))\" is unknown.")
        }
        let kind: VersionModel.Attribute.Kind
        if values["attributeType"] == "Composite" {
            kind = .composite(values["composite"] ?? "")
        } else if values["derived"] == "YES" {
            let expression = values["derivationExpression"] ?? ""
            guard let plain = Derivation.printed(expression) else {
                return fail("attribute \(values["name"] ?? ""): only the stack knows how it writes \"\(SwiftNames.shown(expression))\".")
            }
            kind = .derived(plain)
        } else {
            kind = .stored(isExternal: values["attributeType"] == "Binary" && values["allowsExternalBinaryDataStorage"] == "YES")
        }
        let attribute = VersionModel.Attribute(property: property(values), type: type, kind: kind)
        if composite != nil { composite?.attributes.append(attribute) } else { entity?.attributes.append(attribute) }
    }

    private func startRelationship(_ values: [String: String]) {
        let rules: [String: UInt] = ["No Action": 0, "Nullify": 1, "Cascade": 2, "Deny": 3]
        guard let rule = rules[values["deletionRule"] ?? "Nullify"] else {
            return fail("relationship \(values["name"] ?? ""): the deletion rule is unknown.")
        }
        func count(_ key: String) -> Int? { values[key].flatMap(Int.init) }
        entity?.relationships.append(VersionModel.Relationship(
            property: property(values), destination: values["destinationEntity"] ?? "", inverse: values["inverseName"],
            counts: (count("minCount") ?? 0, count("maxCount") ?? (values["toMany"] == "YES" ? 0 : 1)), rule: rule,
            isOrdered: values["ordered"] == "YES"))
    }
}
