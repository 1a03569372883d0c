import Foundation
import Heartwood

struct HistoryCommand: Command {
    static let name = "history"

    /// A position in a history.
    private enum Position {
        case number(UInt64)
        case date(Date)

        init(_ title: String, _ text: String) throws {
            if let number = UInt64(text), number <= UInt64(Int64.max) {
                self = .number(number)
            } else if let date = TimeArgument.date(iso: text) {
                self = .date(date)
            } else {
                throw ToolError.usage("\(title) takes a transaction's number or a time (ISO 8601), not \"\(text)\"")
            }
        }

        static func option(_ name: String, _ meaning: String) -> Parameter<Position?> {
            Parameter(ParameterDeclaration(name: name, placeholder: "N|TIME", kind: .commit, meaning: meaning)) { try Position($0, $1) }
        }
    }

    private static let store = Parameter.argument("STORE", .store, "a store's file or URL").required()
    private static let after = Position.option(
        "after",
        """
        the transactions behind number N, or later than a time: ISO 8601, as 2026-11-21T12:00:00Z, or a day alone (2026-11-21), which is its \
        beginning by UTC
        """)
    private static let author = Parameter.text("author", "A", "those of this author")
    private static let limit = Parameter.integer("limit", from: 1, "at most so many")
    private static let json = Parameter.flag("json", "as --format jsonl")
    private static let deleteBefore = Position.option(
        "delete-before", "deletes the transactions with lower numbers, or that are earlier, and lists nothing")

    static let declaration = CommandDeclaration(
        "Lists the transactions of a store that tracks its history.",
        [
            CommandForm(
                [Self.store],
                options: [
                    Self.after, Self.author, Self.limit, ListFormat.option, json, OutputFile.option, Excerpt.option, Self.deleteBefore,
                    CoreDataStore.option, DamagedStore.option,
                ],
                rules: [
                    .excludes(Self.deleteBefore, [Self.after, Self.author, Self.limit, ListFormat.option, json]),
                    .excludes(json, [ListFormat.option]),
                ])
        ],
        databases: .taken,
        discussion: """
            A transaction is one save, or one commit of a batch request; a change is what it did to an object: +inserted, *updated (with the
            properties), -deleted. Transactions are listed by their numbers, each with its first 20 changes. A time is what the clock said
            when the transaction was made, and each is compared with TIME. A store tracks its history where it was once added with
            NSPersistentHistoryTrackingKey. The history that Core Data keeps in a store of its own is listed, and cannot be deleted.
            """,
        examples: [
            .init("history app.heartwood --after 2026-11-21T12:00:00Z --author importer", "what the author saved since then"),
            .init("history app.heartwood --delete-before 2026-01-01", "deletes what is older"),
        ])

    let outputFile: String?
    private let store: String
    private let after: Position?
    private let deleteBefore: Position?
    private let author: String?
    private let limit: Int
    private let format: ListFormat
    private let excerpt: Excerpt
    private let acceptsDamage: Bool
    private let modelFile: String?

    init(_ arguments: Arguments) throws {
        store = try arguments[Self.store]
        after = try arguments[Self.after]
        deleteBefore = try arguments[Self.deleteBefore]
        author = try arguments[Self.author]
        limit = try arguments[Self.limit] ?? .max
        format = try arguments[Self.json] ? .jsonl : arguments[ListFormat.option]
        outputFile = try arguments[OutputFile.option]
        excerpt = try arguments[Excerpt.option] ? .full : .screen
        acceptsDamage = try arguments[DamagedStore.option]
        modelFile = try arguments[CoreDataStore.option]
    }

    func run() throws -> Int32 {
        let open = try OpenStore(path: store, modelFile: modelFile, isReadOnly: deleteBefore == nil, acceptsDamage: acceptsDamage)
        guard let found = open.coordinator.persistentStores.first else { return 1 }
        do {
            if let deleteBefore {
                try delete(before: deleteBefore, open)
            } else {
                try list(found)
            }
        } catch {
            throw ToolError.ofRequest(error)
        }
        try open.close()
        return 0
    }

    private func delete(before position: Position, _ open: OpenStore) throws {
        switch position {
        case .number(let number): try open.coordinator.persistentStores.first?.deleteTransactions(before: number)
        case .date(let date): try open.context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: date))
        }
    }

    private func list(_ store: NSPersistentStore) throws {
        var number: UInt64 = 1, date: Date?
        switch after {
        case .number(let last): number = last + 1
        case .date(let time): date = time
        case nil: break
        }
        var count = 0
        try store.forEachTransaction(from: number, after: date) { transaction in
            guard author == nil || transaction.author == author else { return true }
            if format == .json { Output.data(count == 0 ? "[" : ",") }
            if format == .text { try write(transaction) } else { try writeJSON(transaction) }
            count += 1
            return count < limit
        }
        if format == .json { Output.data(count == 0 ? "[]" : "]") }
    }

    // MARK: Writing

    private static func time(_ date: Date) -> String { date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)) }

    private func write(_ transaction: NSPersistentHistoryTransaction) throws {
        var line = "\(transaction.transactionNumber)  \(Self.time(transaction.timestamp))  \(transaction.processID)"
        if let context = transaction.contextName { line += "  context \(context)" }
        if let author = transaction.author { line += "  author \(author)" }
        Output.line(line)
        guard !Output.hasEnded else { throw Output.Ended() }
        guard transaction.hasChanges else { return Output.line("  its changes are lost") }
        var more = -excerpt.membersMax
        try transaction.forEachChange { change in
            more += 1
            guard more <= 0 else { return true }
            guard !Output.hasEnded else { throw Output.Ended() }
            let properties = (change.updatedProperties ?? []).map(\.name).sorted().joined(separator: ", ")
            let sign = change.changeType == .insert ? "+" : change.changeType == .update ? "*" : "-"
            Output.line("  \(sign)\(change.changedObjectID.text)\(properties.isEmpty ? "" : "  \(properties)")")
            return true
        }
        if more > 0 { Output.line("  \(Excerpt.more(more))") }
    }

    private func writeJSON(_ transaction: NSPersistentHistoryTransaction) throws {
        let buffer = OutputBuffer()
        let head = try Self.json([
            "number": transaction.transactionNumber, "time": Self.time(transaction.timestamp), "process": transaction.processID,
            "bundle": transaction.bundleID, "context": transaction.contextName ?? NSNull(), "author": transaction.author ?? NSNull(),
        ])
        // One at a time: there may be millions.
        try buffer.append(head.dropLast() + Data(#","changes":"#.utf8))
        if transaction.hasChanges {
            var separator = "["
            try transaction.forEachChange { change in
                try buffer.append(separator)
                try buffer.append(Self.json(Self.entry(change)))
                separator = ","
                return true
            }
            try buffer.append(separator == "[" ? "[]}\n" : "]}\n")
        } else {
            try buffer.append("null}\n")
        }
        try buffer.flush()
    }

    private static func entry(_ change: NSPersistentHistoryChange) -> [String: Any] {
        var entry: [String: Any] = ["type": "\(change.changeType)", "object": change.changedObjectID.text]
        if let properties = change.updatedProperties { entry["properties"] = properties.map(\.name).sorted() }
        if let tombstone = change.tombstone {
            entry["tombstone"] = Dictionary(uniqueKeysWithValues: tombstone.map { ("\($0.key)", "\($0.value)") })
        }
        return entry
    }

    private static func json(_ object: [String: Any]) throws -> Data {
        try JSONSerialization.data(withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
    }
}
