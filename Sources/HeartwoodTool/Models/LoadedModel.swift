import Foundation
import Heartwood
import HeartwoodPostgreSQL
import HeartwoodSQLite

/// A model named on the command line: a model file, or a store that carries one.
struct LoadedModel {
    let name: String
    let model: NSManagedObjectModel

    init(name: String, model: NSManagedObjectModel) { (self.name, self.model) = (name, model) }

    /// - Parameter modelFile: the path of a model, for a Core Data store without one.
    init(path: String, modelFile: String? = nil, acceptsDamage: Bool = false) throws {
        guard !DatabaseStore.isOne(path) else {
            guard let stored = try DatabaseStore.transfer(path).storedModel() else { throw ToolError.usage("\(try DatabaseStore.shown(path)) has no store") }
            name = try DatabaseStore.transfer(path).schema
            model = stored.model
            return
        }
        let url = URL(fileURLWithPath: path)
        name = url.deletingPathExtension().lastPathComponent
        guard FileManager.default.fileExists(atPath: path) else { throw ToolError.usage("there is no \(path)") }
        // Opening a pipe would wait for a writer.
        guard ["file", "folder"].contains(Self.kind(of: url)) else {
            throw ToolError.usage("\(path) is no model and no store, but \(Self.kind(of: url))")
        }
        guard !CoreDataStore.isOne(path) else {
            model = try CoreDataStore.model(path, given: modelFile, isShown: true).model
            return
        }
        model = Self.isStore(url) ? try DamagedStore.model(at: url, isAccepted: acceptsDamage) : try NSManagedObjectModel.load(contentsOf: url)
    }

    private static func kind(of url: URL) -> String {
        switch try? FileManager.default.attributesOfItem(atPath: url.resolvingSymlinksInPath().path)[.type] as? FileAttributeType {
        case .typeRegular: "file"
        case .typeDirectory: "folder"
        default: "a pipe, a socket or a device"
        }
    }

    /// Model files are directories, XML, or binary property lists; any other file is opened as a store.
    static func isStore(_ url: URL) -> Bool {
        guard let handle = try? FileHandle(forReadingFrom: url), let start = try? handle.read(upToCount: 64) else { return false }
        // The file may start with a byte order mark and white space.
        let text = String(decoding: start.drop { [0xEF, 0xBB, 0xBF, 0x20, 0x09, 0x0A, 0x0D].contains($0) }, as: UTF8.self)
        return !text.hasPrefix("<") && !text.hasPrefix("bplist00")
    }

    /// Sorted by name, so that every drawing of a model is the same.
    var entities: [NSEntityDescription] { model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") } }
}

extension NSEntityDescription {
    var title: String { name ?? "?" }
    /// The entity's own properties without inherited ones: attributes first, each kind sorted by name.
    var ownProperties: [NSPropertyDescription] {
        let own = properties.filter { $0.holder === self }.sorted { $0.name < $1.name }
        return own.filter { $0 is NSAttributeDescription } + own.filter { !($0 is NSAttributeDescription) }
    }
    var ownRelationships: [NSRelationshipDescription] { ownProperties.compactMap { $0 as? NSRelationshipDescription } }
    /// The attributes' names of each uniqueness constraint.
    var constraintNames: [[String]] {
        uniquenessConstraints.map { $0.compactMap { ($0 as? NSPropertyDescription)?.name ?? $0 as? String } }
    }
}

extension NSFetchIndexDescription {
    /// The elements with their kinds and orders.
    var elementTitles: String {
        elements.map { element in
            let kind = element.collationType == .text ? " by words" : element.collationType == .rTree ? " in an R-tree" : ""
            return (element.propertyName ?? "?") + kind + (element.isAscending ? "" : " descending")
        }.joined(separator: ", ")
    }
}

extension NSAttributeDescription {
    var typeTitle: String {
        guard let composite = self as? NSCompositeAttributeDescription else { return attributeType.modelFileName }
        return "{" + composite.elements.map { "\($0.name): \($0.typeTitle)" }.joined(separator: ", ") + "}"
    }
}

extension NSRelationshipDescription {
    /// The number of destinations: 1, 0..1, 0..*, 2..10.
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

    /// True for one of two inverses, always the same one, and for a relationship without an inverse.
    var isDrawn: Bool {
        guard let inverse = inverseRelationship, inverse !== self else { return true }
        // Of a to-many and a to-one inverse the to-many one is drawn; of two alike the first by name.
        if isToMany != inverse.isToMany { return isToMany }
        let mine = "\(holder?.title ?? "").\(name)", theirs = "\(inverse.holder?.title ?? "").\(inverse.name)"
        return mine <= theirs
    }
}
