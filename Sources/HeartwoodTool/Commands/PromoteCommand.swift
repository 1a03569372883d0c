import Heartwood
import RecordLog

struct PromoteCommand: Command {
    static let name = "promote"

    private static let store = Parameter.argument("STORE", .store, "a store's file").required()

    static let declaration = CommandDeclaration(
        "Gives a replica or a copy a line of commits of its own.", [CommandForm([Self.store])],
        databases: .refused("a replica of a server is promoted by the server: `pg_ctl promote`"),
        discussion: """
            A replica (`heartwood restore --follow`) can be written to afterwards, and follows no more. A copy of a store's file, or an older
            state that was brought back by other means than a restore, can be backed up afterwards beside the store that it comes from: a
            backup refuses it before, since two stores would have different commits of the same numbers.

            It is one commit, with the author "heartwood promote". The identity stays, so references to objects hold.
            """,
        examples: [.init("promote replica.heartwood", "makes a store of a replica")])

    private let store: String

    init(_ arguments: Arguments) throws { store = try arguments[Self.store] }

    func run() throws -> Int32 {
        try CoreDataStore.refuse(store, "its backups are SQLite's, or \(CoreDataStore.conversion(store))")
        let lineage = try LogStore.promote(path: store, options: StoredModel.options)
        Output.line("\(store) goes on as lineage \(lineage.id)")
        return 0
    }
}
