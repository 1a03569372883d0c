import Foundation
import Heartwood
import HeartwoodPostgreSQL
import HeartwoodPostgreSQLTestSupport
import HeartwoodTestSupport
import Testing
import heartwood_postgresql_testprocess

/// Processes move money in one store, while they are killed and the server restarts. No money comes or goes, and each process was told the truth.
@Suite(.serialized, .enabled(if: PostgreSQLTestServer.shared.privateSocket != nil, "There is no private PostgreSQL server to stop."))
struct BankTests {
    /// HEARTWOOD_BANK=8,2000,40,10: processes, transfers in all, kills, restarts of the server.
    private static let form = (ProcessInfo.processInfo.environment["HEARTWOOD_BANK"] ?? "").split(separator: ",").compactMap { Int($0) }
    private static let (processes, transfers, kills, restarts) = form.count == 4 ? (form[0], form[1], form[2], form[3]) : (3, 60, 2, 1)
    private static let accounts = 6, money = 100

    /// What a process has told, also after its end.
    private final class Teller: @unchecked Sendable {
        // Unchecked: the lock guards the lines.
        let process = ChildProcess()
        private let input = Pipe(), output = Pipe(), lock = NSLock(), isAtEnd = DispatchSemaphore(value: 0)
        private var text = ""
        private let onLine: @Sendable () -> Void

        init(_ url: URL, seed: UInt64, _ onLine: @escaping @Sendable () -> Void) throws {
            self.onLine = onLine
            let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
                ?? URL(fileURLWithPath: ProcessInfo.processInfo.arguments[0])
            process.executableURL = bundle.deletingLastPathComponent().appendingPathComponent("heartwood-postgresql-testprocess")
            process.arguments = [url.absoluteString, "\(seed)"]
            process.standardInput = input
            process.standardOutput = output
            try process.run()
            let handle = output.fileHandleForReading
            Thread.detachNewThread { [self] in
                while case let data = handle.availableData, !data.isEmpty {
                    lock.withLock { text += String(decoding: data, as: UTF8.self) }
                    onLine()
                }
                isAtEnd.signal()
            }
        }

        var lines: [Substring] { lock.withLock { text.split(separator: "\n") } }

        func kill() { Foundation.kill(process.processIdentifier, SIGKILL) }

        func end() {
            try? input.fileHandleForWriting.close()
            process.waitUntilExit()
            isAtEnd.wait()
        }
    }

    private static func url(_ server: PostgreSQLTestServer) throws -> URL {
        var parts = URLComponents()
        (parts.scheme, parts.host, parts.path) = ("postgresql", "", "/postgres")
        parts.queryItems = [URLQueryItem(name: "host", value: server.socketFolder), URLQueryItem(name: "user", value: "postgres")]
        return try #require(parts.url)
    }

    private static func context(_ url: URL) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: BankProcess.model())
        try coordinator.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: url)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @Test
    func `The sum stays, and each transfer that was told is there once`() throws {
        let seed = UInt64.random(in: 0..<1 << 32), server = try PostgreSQLTestServer(), url = try Self.url(server)
        let opening = try Self.context(url)
        try opening.performAndWait {
            for number in 0..<Self.accounts {
                NSEntityDescription.insertNewObject(forEntityName: "Account", into: opening).setValuesForKeys(["number": number, "balance": Self.money])
            }
            try opening.save()
        }
        let told = DispatchSemaphore(value: 0)
        var tellers: [Teller] = [], ended: [Teller] = [], random = SeededGenerator(seed: seed)
        func begin() throws { tellers.append(try Teller(url, seed: seed &+ UInt64(tellers.count + ended.count)) { told.signal() }) }
        for _ in 0..<Self.processes { try begin() }
        func done() -> Int { (tellers + ended).reduce(0) { $0 + $1.lines.filter { $0.hasPrefix("done") }.count } }
        let steps = Self.kills + Self.restarts
        for step in 1...steps {
            while done() < Self.transfers * step / (steps + 1) { told.wait() }
            if step % (steps / max(1, Self.restarts)) == 0 {
                if Bool.random(using: &random) { try server.crash() } else { try server.stop() }
                try server.start()
            } else {
                let teller = tellers.remove(at: Int.random(in: tellers.indices, using: &random))
                teller.kill()
                teller.end()
                ended.append(teller)
                try begin()
            }
        }
        while done() < Self.transfers { told.wait() }
        for teller in tellers { teller.end() }
        try check(try Self.context(url), (tellers + ended).flatMap(\.lines), seed)
    }

    private func check(_ context: NSManagedObjectContext, _ lines: [Substring], _ seed: UInt64) throws {
        try context.performAndWait {
            var balances = [Int](repeating: Self.money, count: Self.accounts), ids: [String: Int] = [:]
            for transfer in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Transfer")) {
                let amount = transfer.value(forKey: "amount") as? Int ?? 0
                balances[transfer.value(forKey: "from") as? Int ?? 0] -= amount
                balances[transfer.value(forKey: "to") as? Int ?? 0] += amount
                ids[(transfer.value(forKey: "id") as? UUID)?.uuidString ?? "", default: 0] += 1
            }
            let request = NSFetchRequest<NSManagedObject>(entityName: "Account")
            request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
            #expect(try context.fetch(request).map { $0.value(forKey: "balance") as? Int } == balances, "seed \(seed)")
            #expect(balances.reduce(0, +) == Self.accounts * Self.money, "seed \(seed)")
            for line in lines {
                let words = line.split(separator: " ").map(String.init), count = ids[words.last ?? ""] ?? 0
                #expect(words.count == 2 && (words[0] == "unknown" || count == (words[0] == "done" ? 1 : 0)), "seed \(seed): \(line) is there \(count) times")
            }
        }
    }
}
