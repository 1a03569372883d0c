import Foundation
import Heartwood

/// A model that was named on the command line: a model file, or a store that carries one.
struct LoadedModel {
    let name: String
    let model: NSManagedObjectModel

    init(path: String, acceptsDamage: Bool = false) throws {
        let url = URL(fileURLWithPath: path)
        name = url.deletingPathExtension().lastPathComponent
        guard FileManager.default.fileExists(atPath: path) else { throw ToolError.usage("there is no \(path)") }
        model = Self.isStore(url) ? try DamagedStore.model(at: url, isAccepted: acceptsDamage) : try NSManagedObjectModel.load(contentsOf: url)
    }

    /// Model files are directories, XML, or binary property lists; anything else is for the store to say.
    private static func isStore(_ url: URL) -> Bool {
        guard let handle = try? FileHandle(forReadingFrom: url), let start = try? handle.read(upToCount: 64) else { return false }
        // A byte order mark and space may come first.
        let text = String(decoding: start.drop { [0xEF, 0xBB, 0xBF, 0x20, 0x09, 0x0A, 0x0D].contains($0) }, as: UTF8.self)
        return !text.hasPrefix("<") && !text.hasPrefix("bplist00")
    }

    /// By name, so that every drawing of a model comes out the same.
    var entities: [NSEntityDescription] { model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") } }
}

extension NSEntityDescription {
    var title: String { name ?? "?" }
    /// The properties that it states itself, attributes first, each kind by name.
    var ownProperties: [NSPropertyDescription] {
        let own = properties.filter { $0.holder === self }.sorted { $0.name < $1.name }
        return own.filter { $0 is NSAttributeDescription } + own.filter { !($0 is NSAttributeDescription) }
    }
    var ownRelationships: [NSRelationshipDescription] { ownProperties.compactMap { $0 as? NSRelationshipDescription } }
    /// Each by its attributes' names.
    var constraintNames: [[String]] {
        uniquenessConstraints.map { $0.compactMap { ($0 as? NSPropertyDescription)?.name ?? $0 as? String } }
    }
}

extension NSAttributeDescription {
    var typeTitle: String {
        guard let composite = self as? NSCompositeAttributeDescription else { return attributeType.modelFileName }
        return "{" + composite.elements.map { "\($0.name): \($0.typeTitle)" }.joined(separator: ", ") + "}"
    }
}

extension NSRelationshipDescription {
    /// How many destinations there may be: 1, 0..1, 0..*, 2..10.
    var multiplicity: String {
        guard isToMany else { return isOptional ? "0..1" : "1" }
        return "\(isOptional ? 0 : max(minCount, 1))..\(maxCount == 0 ? "*" : "\(maxCount)")"
    }

    var ruleTitle: String {
        switch deleteRule {
        case .noActionDeleteRule: "no action"
        case .nullifyDeleteRule: "nullify"
        case .cascadeDeleteRule: "cascade"
        case .denyDeleteRule: "deny"
        }
    }

    /// One of two inverses, the same whichever is asked; itself where it has none.
    var isDrawn: Bool {
        guard let inverse = inverseRelationship, inverse !== self else { return true }
        // The side with one destination points at the one; of two alike the first by name.
        if isToMany != inverse.isToMany { return isToMany }
        let mine = "\(holder?.title ?? "").\(name)", theirs = "\(inverse.holder?.title ?? "").\(inverse.name)"
        return mine <= theirs
    }
}
