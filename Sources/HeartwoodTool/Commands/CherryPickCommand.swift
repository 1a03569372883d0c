import Foundation
import Heartwood
import RecordLog

struct CherryPickCommand: Command {
    static let name = "cherry-pick"

    private static let origin = Parameter.argument(
        "SOURCE", .store, "a store (STORE itself, with --at), a copy of it, or its backup"
    ).required()
    private static let only = Parameter.text(
        "only", "TEXT", "the objects of the past: \"ENTITY [WHERE PREDICATE]\", of the entity or of an entity below it"
    ).required()
    private static let target = Parameter.text("into", "STORE", .store, "the store into which they come").required()
    private static let conflicts = Parameter.choice(
        "conflicts", CherryPick.Policy.self,
        """
        what to do with an object that is there and was changed since, another object with a value that must be unique, a relationship whose \
        destination is gone or has another object now. refuse saves nothing; with keep present values and objects stay, and the rest comes; \
        overwrite is as keep, and objects that were changed since get their old values
        """
    ).or(.refuse)
    private static let dryRun = Parameter.flag("dry-run", "lists what would come, change or conflict, and saves nothing")
    private static let author = Parameter.text("author", "NAME", "the author of the save").or("heartwood cherry-pick")

    static let declaration = CommandDeclaration(
        "Brings objects of a past commit or a backup into a store.",
        [CommandForm([origin], options: [only, target, PastOption.option, BackupText.lineage, conflicts, dryRun, Self.author])],
        databases: .refused("objects are brought into record logs only"),
        exits: [.done, ExitCode(1, "failed, or there were conflicts and nothing was saved"), .wrongUsage],
        discussion: """
            Everything is one save, with the model's validation. Deleted objects come back with their old URIs. Relationships to objects that
            are there are kept. An object that another line of commits has made (a copy or a restored store that went on) gets a new URI. A
            backup is restored to a temporary file first.
            """,
        examples: [
            .init(
                "cherry-pick app.heartwood --at 12 --only \"Person WHERE name == 'Ada'\" --into app.heartwood",
                "brings back an object that was deleted after commit 12")
        ])

    private let source: PickSource
    private let entity: String
    private let predicate: NSPredicate?
    private let store: String
    private let policy: CherryPick.Policy
    private let isDry: Bool
    private let author: String

    init(_ arguments: Arguments) throws {
        source = PickSource(
            try arguments[Self.origin], at: try arguments[PastOption.option], lineage: try arguments[BackupText.lineage])
        let only = try arguments[Self.only]
        let parts = only.split(maxSplits: 2, whereSeparator: \.isWhitespace).map(String.init)
        guard let first = parts.first, parts.count == 1 || parts.count == 3 && parts[1].uppercased() == "WHERE" else {
            throw ToolError.usage("\(Self.only.title) takes an entity, or an entity, WHERE and a predicate, not \"\(only)\"")
        }
        entity = first
        predicate = try parts.count == 3 ? QueryText.predicate(parts[2]) : nil
        store = try arguments[Self.target]
        policy = try arguments[Self.conflicts]
        isDry = try arguments[Self.dryRun]
        author = try arguments[Self.author]
    }

    func run() throws -> Int32 {
        try CoreDataStore.refuse(store, "objects are brought into record logs only")
        let report = try source.with(like: store) { past, origins in
            // A dry run writes nothing, not even a recovery.
            let now = try OpenStore(path: store, isReadOnly: isDry)
            now.context.transactionAuthor = author
            let described = try past.entity(entity), request = NSFetchRequest<NSManagedObject>(entityName: described.title)
            request.predicate = try past.meant(predicate, about: described)
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
