import Foundation
import Heartwood
import RecordLog

struct CherryPickCommand: Command {
    static let name = "cherry-pick"
    static let summary = "bring objects of a past commit or a backup into a store"
    static let help = """
        USAGE: heartwood cherry-pick SOURCE --only "ENTITY [WHERE PREDICATE]" --into STORE [--at COMMIT|TIME] [--lineage ID]
                                     [--conflicts refuse|keep|overwrite] [--dry-run] [--author NAME]

        SOURCE is a store (STORE itself, with --at), a copy of it, or the directory of its backup.

          --only "Person WHERE name == 'Ada'"
                             the objects of the past, of the entity or of an entity below it
          --at COMMIT|TIME   the commit of SOURCE: its number, or the last one at or before a time (ISO 8601; a day alone
                             is its end by UTC); the newest if not given
          --lineage ID       the line of commits of a backup that has several; the one with the newest commit if not given
          --conflicts refuse    save nothing if there is a conflict (the default): an object that is there and was changed since, another object
                                with a value that must be unique, a relationship whose destination is gone or has another object now
          --conflicts keep      present values and objects stay, and the rest comes
          --conflicts overwrite as keep, and objects that were changed since get their old values
          --dry-run          list what would come, change or conflict, and save nothing
          --author NAME      the author of the save; "heartwood cherry-pick" if not given

        Everything is one save, with the model's validation. Deleted objects come back with their old URIs. Relationships to objects that
        are there are kept. An object that another line of commits has made (a copy or a restored store that went on) gets a new URI. A
        backup is restored to a temporary file first. Exit code 1 if there were conflicts and nothing was saved.
        """
    static let options: Set<String> = ["only", "into", PastOption.name, "lineage", "conflicts", "author"]
    static let flags: Set<String> = ["dry-run"]
    static let adviceForDatabases: String? = "objects are brought into record logs only"

    private let source: PickSource
    private let entity: String
    private let predicate: NSPredicate?
    private let store: String
    private let policy: CherryPick.Policy
    private let isDry: Bool
    private let author: String

    init(_ arguments: Arguments) throws {
        source = PickSource(
            try arguments.exactly(["SOURCE"])[0], at: try PastOption.value(arguments),
            lineage: try BackupText.identity("lineage", arguments["lineage"]))
        let only = try arguments.required("only")
        let parts = only.split(maxSplits: 2, whereSeparator: \.isWhitespace).map(String.init)
        guard let first = parts.first, parts.count == 1 || parts.count == 3 && parts[1].uppercased() == "WHERE" else {
            throw ToolError.usage("--only takes an entity, or an entity, WHERE and a predicate, not \"\(only)\"")
        }
        entity = first
        predicate = try QueryText.predicate(parts.count == 3 ? parts[2] : nil)
        store = try arguments.required("into")
        guard let policy = CherryPick.Policy(rawValue: arguments["conflicts"] ?? "refuse") else {
            throw ToolError.usage("--conflicts is refuse, keep or overwrite, not \"\(arguments["conflicts"] ?? "")\"")
        }
        self.policy = policy
        isDry = arguments.has("dry-run")
        author = arguments["author"] ?? "heartwood cherry-pick"
    }

    func run() throws -> Int32 {
        try CoreDataStore.refuse(store, "objects are brought into record logs only")
        let report = try source.with(like: store) { past, origins in
            // A dry run writes nothing, not even a recovery.
            let now = try OpenStore(path: store, isReadOnly: isDry)
            now.context.transactionAuthor = author
            let request = NSFetchRequest<NSManagedObject>(entityName: try past.entity(entity).name ?? "")
            request.predicate = predicate
            let objects: [NSManagedObject]
            do {
                objects = try past.context.fetch(request)
            } catch {
                // A predicate that the entity cannot answer is wrong usage.
                throw ToolError.ofRequest(error)
            }
            let report = try CherryPick(from: past.context, into: now.context, policy, origins: origins).run(objects, isDry: isDry)
            if !isDry { try now.close() }
            return report
        }
        show(report)
        return report.isSaved || isDry || report.conflicts.isEmpty || policy != .refuse ? 0 : 1
    }

    private func show(_ report: CherryPickReport) {
        for object in report.inserted { Output.line("+ \(object)") }
        for (object, properties) in report.updated { Output.line("* \(object)  \(properties.joined(separator: ", "))") }
        for object in report.renumbered {
            Output.line("\(object) gets another URI: in the store's line of commits its number is another object's, or will be")
        }
        for conflict in report.conflicts { Output.line("! \(conflict.object)  \(conflict.detail)") }
        let counts = "\(Output.count(report.found, "object")) found; \(Output.number(report.inserted.count)) "
            + "inserted, \(Output.number(report.updated.count)) updated, \(Output.count(report.conflicts.count, "conflict"))"
        let end = report.isSaved ? "saved" : isDry ? "a dry run, nothing is saved"
            : report.conflicts.isEmpty ? "nothing to save" : "nothing is saved"
        Output.line("\(counts); \(end)")
        if !report.isSaved, !report.conflicts.isEmpty, policy == .refuse, !isDry {
            Output.line("--conflicts keep saves the rest, --conflicts overwrite takes back the values of changed objects too")
        }
    }
}
