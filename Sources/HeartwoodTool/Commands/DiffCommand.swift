import Foundation
import Heartwood
import RecordLog

struct DiffCommand: Command {
    static let name = "diff"

    private static let store = Parameter.argument("STORE", .store, "a store's file").required()
    private static let copy = Parameter.argument(
        "COPY", .store, "a copy of the file, or a store that was restored from its backup; --from is a commit of STORE then, --to one of COPY")
    private static let entity = Parameter.text("entity", "NAME", .entity, "objects of this entity, or of an entity below it")

    static let declaration = CommandDeclaration(
        "Shows the objects that differ between two commits, or between a store and a copy.",
        [
            CommandForm(
                [Self.store, copy],
                options: [PastOption.from, PastOption.to, Self.entity, ListFormat.option, OutputFile.option, Excerpt.option])
        ],
        databases: .refused("only record logs have past commits; `heartwood convert` makes one of it"),
        discussion: """
            Objects that were +inserted, *updated (each property with its old and new value) and -deleted. Of an unordered to-many relationship
            it shows members that came and went, of an ordered one both lists. `heartwood log` lists the commits.
            """,
        examples: [
            .init("diff app.heartwood --from 2 --to 5", "what three commits changed"),
            .init("diff app.heartwood restored.heartwood --entity Person", "the persons that differ between two files"),
        ])

    let outputFile: String?
    private let store: String
    /// The file with the newer state.
    private let other: String
    private let from: PastCommit?
    private let to: PastCommit?
    private let entity: String?
    private let format: ListFormat
    private let excerpt: Excerpt

    init(_ arguments: Arguments) throws {
        store = try arguments[Self.store]
        other = try arguments[Self.copy] ?? store
        outputFile = try arguments[OutputFile.option]
        from = try arguments[PastOption.from]
        to = try arguments[PastOption.to]
        entity = try arguments[Self.entity]
        format = try arguments[ListFormat.option]
        excerpt = try arguments[Excerpt.option] ? .full : .line
        guard arguments.has(Self.copy) || from != nil else {
            throw ToolError.usage("\(PastOption.from.title) is missing, or the path of a copy to compare with")
        }
    }

    func run() throws -> Int32 {
        for path in [store, other] { try CoreDataStore.refuse(path, "only record logs are compared; \(CoreDataStore.conversion(path))") }
        let old = try OpenStore(path: store, isReadOnly: true, at: from), new = try OpenStore(path: other, isReadOnly: true, at: to)
        guard let before = old.coordinator.persistentStores.first, let after = new.coordinator.persistentStores.first else { return 1 }
        let writer = format == .text ? nil : JSONListWriter(isArray: format == .json)
        var counts: [ObjectDifference.Kind: Int] = [:]
        try StoreComparison(from: before, to: after).run(try names(old, new)) { object in
            counts[object.kind, default: 0] += 1
            guard !Output.hasEnded else { throw Output.Ended() }
            if let writer { try writer.append(DifferenceText.json(object)) } else {
                Output.lines(DifferenceText.lines(object, excerpt), first: DifferenceText.paint(object.kind))
            }
        }
        try writer?.finish()
        if writer == nil {
            let kinds: [ObjectDifference.Kind] = [.inserted, .updated, .deleted]
            Output.line(kinds.map { "\(Output.number(counts[$0] ?? 0)) \($0.rawValue)" }.joined(separator: ", "))
        }
        return 0
    }

    /// The names of the wanted entities in both states; nil for all.
    private func names(_ old: OpenStore, _ new: OpenStore) throws -> Set<String>? {
        guard let entity else { return nil }
        var names: Set<String> = []
        for entities in [old.entities, new.entities] {
            guard let family = entities.first(where: { $0.name == entity }) else { continue }
            names.formUnion(entities.filter { $0.isKindOf(entity: family) }.compactMap(\.name))
        }
        // The error names the entities that there are.
        if names.isEmpty { _ = try new.entity(entity) }
        return names
    }
}
