import Foundation
import Heartwood
import HeartwoodPostgreSQL
import HeartwoodPostgreSQLClient
import HeartwoodPostgreSQLTestSupport
import HeartwoodTestSupport
import Testing

/// A save over a PostgreSQL store and another store is in both or in neither.
@Suite(.serialized, .enabled(if: PostgreSQLTestServer.shared.privateSocket != nil, "There is no private PostgreSQL server to stand before."))
struct JointSaveTests {
    private func refusal(_ body: () throws -> Void) -> NSError? {
        do {
            try body()
            return nil
        } catch { return error as NSError }
    }

    private func shown(_ pair: JointPair) throws -> [JointPair.Shown] {
        let context = JointPair.context(pair.coordinator)
        return try pair.stores.map { try JointPair.shown(context, $0) }
    }

    @Test(arguments: JointPair.Kind.allCases)
    func `A connection that is cut at any message of a save leaves both stores with the save`(kind: JointPair.Kind) throws {
        let proxy = try PostgreSQLProxy(to: try #require(PostgreSQLTestServer.shared.privateSocket))
        let pair = try JointPair(kind, socketFolder: proxy.folder)
        // The statements of a connection that has saved before are prepared, so the numbers of messages are the same each time.
        for number in 1...2 {
            try pair.change(number)
            try pair.context.save()
        }
        try pair.change(3)
        let count = try proxy.count { try pair.context.save() }
        var number = 3
        for (direction, messages) in [(PostgreSQLProxy.Direction.toServer, count.toServer.count), (.toClient, count.toClient.count)] {
            for message in 1...messages {
                number += 1
                try pair.change(number)
                let fault = PostgreSQLProxy.Fault(message % 2 == 0 ? .cut : .cutInside, after: message, direction)
                proxy.setFault(fault)
                let error = refusal { try pair.context.save() }
                proxy.setFault(nil)
                #expect(error == nil, "\(fault)")
                let expected = JointPair.Shown(balance: number, amounts: Array(1...number))
                #expect(try shown(pair) == [expected, expected], "\(fault)")
            }
        }
        pair.close()
        let expected = JointPair.Shown(balance: number, amounts: Array(1...number))
        for url in pair.urls { #expect(try JointPair.shown(at: url) == expected) }
    }

    @Test(arguments: JointPair.Kind.allCases)
    func `A conflict in one store leaves the other as it was`(kind: JointPair.Kind) throws {
        let pair = try JointPair(kind)
        for loser in 0..<2 {
            pair.context.mergePolicy = NSMergePolicy.error
            let other = JointPair.context(pair.coordinator), request = NSFetchRequest<NSManagedObject>(entityName: "Account")
            request.affectedStores = [pair.stores[loser]]
            try pair.change(10 + loser)
            try other.fetch(request).first?.setValue(100 + loser, forKey: "balance")
            try other.save()
            let before = try shown(pair)
            #expect(refusal { try pair.context.save() }?.code == NSManagedObjectMergeError)
            #expect(try shown(pair) == before && pair.context.hasChanges)
            pair.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try pair.context.save()
            #expect(try shown(pair).allSatisfy { $0.balance == 10 + loser && $0.amounts.last == 10 + loser })
        }
    }

    @Test
    func `A save over two stores is refused where the server takes no prepared transactions, and one over a store and a record log is not`() throws {
        let server = try PostgreSQLTestServer(preparedMax: 0)
        let pair = try JointPair(.servers, socketFolder: server.socketFolder)
        try pair.change(1)
        let error = refusal { try pair.context.save() }
        #expect(error?.localizedDescription.contains("max_prepared_transactions is 0") == true)
        #expect(try shown(pair) == [.init(balance: 0, amounts: []), .init(balance: 0, amounts: [])] && pair.context.hasChanges)
        let other = try JointPair(.logAndServer, socketFolder: server.socketFolder)
        try other.change(1)
        try other.context.save()
        #expect(try shown(other) == [.init(balance: 1, amounts: [1]), .init(balance: 1, amounts: [1])])
    }

    // MARK: Parts that nobody has ended

    private func connection(_ url: URL) throws -> PostgreSQLConnection {
        try PostgreSQLConnection(PostgreSQLConfiguration(StoreAddress(url).connection))
    }

    /// Prepares a change of the account as a saver does that ends then.
    /// - Returns: the name of the prepared transaction.
    private func leavePart(in pair: JointPair, coordinator: UUID, place: String) throws -> String {
        let url = pair.urls[0], schema = "\"\(StoreAddress(url).schema)\"", connection = try connection(url)
        defer { connection.close() }
        let store = try #require(pair.stores[0].identifier), name = "heartwood \(store) \(coordinator) \(UUID())"
        for text in [
            "INSERT INTO \(schema).heartwood_store VALUES ('coordinator \(coordinator.uuidString)', convert_to('\(place)', 'UTF8'))",
            "BEGIN", "UPDATE \(schema).\"Account\" SET balance = 77", "PREPARE TRANSACTION '\(name)'",
        ] { try connection.execute(PostgreSQLStatement(text, isPrepared: false)) }
        return name
    }

    private func parts(_ url: URL) throws -> [String] {
        let connection = try connection(url)
        defer { connection.close() }
        let answer = try connection.execute("SELECT gid FROM pg_prepared_xacts")
        return try (0..<answer.count).map { try answer.text($0, 0) }
    }

    @Test
    func `A save that waits for what an ended saver has prepared settles it`() throws {
        let pair = try JointPair(.servers), coordinator = try #require(pair.stores[1].identifier.flatMap(UUID.init(uuidString:)))
        let name = try leavePart(in: pair, coordinator: coordinator, place: pair.urls[1].absoluteString)
        try pair.change(1)
        try pair.context.save()
        #expect(try shown(pair).allSatisfy { $0 == .init(balance: 1, amounts: [1]) })
        #expect(try !parts(pair.urls[0]).contains(name))
    }

    @Test
    func `Where the store that decides is gone, a save says so, and others go on`() throws {
        let pair = try JointPair(.servers), socket = FileManager.default.temporaryDirectory.path
        let place = "postgresql:///postgres?host=\(socket)&schema=gone", name = try leavePart(in: pair, coordinator: UUID(), place: place)
        try pair.change(1)
        let text = refusal { try pair.context.save() }?.localizedDescription ?? ""
        #expect(text.contains(name) && text.contains("schema=gone") && text.contains("ROLLBACK PREPARED"))
        #expect(try JointPair.shown(at: pair.urls[0]) == .init(balance: 0, amounts: []))
        let connection = try connection(pair.urls[0])
        try connection.execute(PostgreSQLStatement("ROLLBACK PREPARED '\(name)'", isPrepared: false))
        try pair.context.save()
        #expect(try shown(pair).allSatisfy { $0 == .init(balance: 1, amounts: [1]) })
    }
}
