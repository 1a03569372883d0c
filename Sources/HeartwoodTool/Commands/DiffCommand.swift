import Foundation
import Heartwood
import RecordLog

struct DiffCommand: Command {
    static let name = "diff"
    static let summary = "show the objects that differ between two commits, or between a store and a copy"
    static let help = """
        USAGE: heartwood diff STORE --from COMMIT|TIME [--to COMMIT|TIME] [--entity NAME] [--format text|json|jsonl]
               heartwood diff STORE COPY [--from COMMIT|TIME] [--to COMMIT|TIME] [--entity NAME] [--format text|json|jsonl]

          --from COMMIT|TIME  the older state: after the commit of this number, or after the last one at or before a time (ISO 8601, as
                              2026-11-21T12:00:00Z); `heartwood log` lists the commits
          --to COMMIT|TIME    the newer state; the newest one if not given
          --entity NAME       objects of this entity, or of an entity below it
          --format json       one array; jsonl: an object a line

        Objects that were +inserted, *updated (each property with its old and new value) and -deleted. Of an unordered to-many relationship
        it shows members that came and went, of an ordered one both lists. With COPY it compares STORE with a copy of its file, or with
        a store that was restored from its backup; --from is a commit of STORE then, --to one of COPY.
        """
    static let options: Set<String> = ["from", "to", "entity", "format"]
    static let flags: Set<String> = []
    static let adviceForDatabases: String? = "only record logs have past commits; `heartwood convert` makes one of it"

    private enum Format: String {
        case text, json, jsonl
    }

    private let store: String
    /// The file with the newer state.
    private let other: String
    private let from: PastCommit?
    private let to: PastCommit?
    private let entity: String?
    private let format: Format

    init(_ arguments: Arguments) throws {
        let names = arguments.positional.count == 2 ? try arguments.exactly(["STORE", "COPY"]) : try arguments.exactly(["STORE"])
        (store, other) = (names[0], names[names.count - 1])
        from = try PastOption.value(arguments, "from")
        to = try PastOption.value(arguments, "to")
        entity = arguments["entity"]
        guard let format = Format(rawValue: arguments["format"] ?? "text") else {
            throw ToolError.usage("--format is text, json or jsonl, not \"\(arguments["format"] ?? "")\"")
        }
        self.format = format
        guard names.count == 2 || from != nil else { throw ToolError.usage("--from is missing, or the path of a copy to compare with") }
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
            if let writer { try writer.append(DifferenceText.json(object)) } else { Output.lines(DifferenceText.lines(object)) }
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
