import Foundation
import Heartwood
import HeartwoodPostgreSQL
import HeartwoodPostgreSQLTestSupport
import HeartwoodTestSupport
import Synchronization
import Testing
import heartwood_postgresql_testprocess

/// A process ends in the midst of a save over two stores, and the server may restart. A program that opens one of the stores alone sees what the other has.
@Suite(.serialized, .enabled(if: PostgreSQLTestServer.shared.privateSocket != nil, "There is no private PostgreSQL server to stand before."))
struct JointCrashTests {
    /// A process that saves the numbers it is told.
    private final class Saver: Sendable {
        private let process = ChildProcess()
        private let input = Pipe()
        private let lines = Mutex<[String]>([])
        private let told = DispatchSemaphore(value: 0), isAtEnd = DispatchSemaphore(value: 0)

        init(_ urls: [URL]) throws {
            let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
                ?? URL(fileURLWithPath: ProcessInfo.processInfo.arguments[0])
            process.executableURL = bundle.deletingLastPathComponent().appendingPathComponent("heartwood-postgresql-testprocess")
            process.arguments = ["joint"] + urls.map(\.absoluteString)
            let output = Pipe()
            process.standardInput = input
            process.standardOutput = output
            try process.run()
            let handle = output.fileHandleForReading
            Thread.detachNewThread { [self] in
                while case let data = handle.availableData, !data.isEmpty {
                    lines.withLock { $0 += String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init) }
                    told.signal()
                }
                isAtEnd.signal()
                told.signal()
            }
        }

        func begin(_ number: Int) throws { try input.fileHandleForWriting.write(contentsOf: Data("\(number)\n".utf8)) }

        /// Called once a line has come, or the process is at its end, or something else has happened.
        func note() { told.signal() }
        func wait() { told.wait() }

        func save(_ number: Int) throws -> String {
            try begin(number)
            wait()
            return line ?? ""
        }

        var line: String? { lines.withLock { $0.last } }

        func kill() {
            Foundation.kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            isAtEnd.wait()
        }
    }

    /// Holds a save behind each message that ends a request or an answer. Only these are counted: notices pass at any time.
    private static func holds(_ count: PostgreSQLProxy.Count) -> [PostgreSQLProxy.Fault] {
        func holds(_ text: String, _ end: Character, _ direction: PostgreSQLProxy.Direction) -> [PostgreSQLProxy.Fault] {
            (0..<text.count { $0 == end }).map { PostgreSQLProxy.Fault(.hold, after: $0 + 1, direction) { $0.first == end.asciiValue } }
        }
        return holds(count.toServer, "S", .toServer) + holds(count.toClient, "Z", .toClient)
    }

    /// Withholds the answer to the next commit, and whatever comes behind it.
    private static func withholdCommit(_ proxy: PostgreSQLProxy, then: @escaping @Sendable () -> Void) {
        let isWithheld = Mutex(false)
        proxy.setRewriting { direction, message in
            guard direction == .toClient else { return message }
            return isWithheld.withLock { isWithheld in
                if !isWithheld, message.first == UInt8(ascii: "C"), message.dropFirst(5).elementsEqual("COMMIT\0".utf8) {
                    isWithheld = true
                    then()
                }
                return isWithheld ? [] : message
            }
        }
    }

    /// The same server without the proxy.
    private static func direct(_ url: URL, _ server: PostgreSQLTestServer) throws -> URL {
        guard !url.isFileURL else { return url }
        return try ServerStack.newURL(socketFolder: server.socketFolder, schema: StoreAddress(url).schema)
    }

    @Test(arguments: JointPair.Kind.allCases)
    func `A process that ends at any step leaves both stores with the save or without it`(kind: JointPair.Kind) throws {
        let server = try PostgreSQLTestServer(), proxy = try PostgreSQLProxy(to: try #require(server.socketFolder))
        let pair = try JointPair(kind, socketFolder: proxy.folder)
        pair.close()
        var saver = try Saver(pair.urls)
        for number in 1...2 { #expect(try saver.save(number) == "done \(number)") }
        let holds = Self.holds(
            try proxy.count {
                let line = try saver.save(3)
                #expect(line == "done 3")
            })
        saver.kill()
        var number = 3, outcomes: Set<Bool> = [], doubts = 0, shown = try JointPair.shown(at: pair.urls[0])
        // At the place 0 the answer to the commit is withheld. Behind the last place nothing is held: the process ends behind its save.
        for place in 0...holds.count + 1 {
            saver = try Saver(pair.urls)
            for _ in 0..<2 {
                number += 1
                #expect(try saver.save(number) == "done \(number)")
            }
            number += 1
            let current = saver
            if place == 0 {
                Self.withholdCommit(proxy) { current.note() }
            } else if place <= holds.count {
                proxy.setFault(holds[place - 1]) { current.note() }
            }
            try saver.begin(number)
            saver.wait()
            saver.kill()
            proxy.setFault(nil)
            proxy.setRewriting(nil)
            proxy.cutAll()
            if place % 2 == 1 {
                try server.crash()
                try server.start()
            }
            if let log = pair.urls.first(where: \.isFileURL), try isInDoubt(log, proxy, before: number - 1) { doubts += 1 }
            // Each store is the first to be opened once.
            let urls = try (place % 4 < 2 ? pair.urls : pair.urls.reversed()).map { try Self.direct($0, server) }
            let found = try urls.map { try JointPair.shown(at: $0) }
            #expect(found[0] == found[1], "\(place)")
            let isSaved = found[0].balance == number
            #expect(isSaved || saver.line != "done \(number)", "\(place)")
            #expect(isSaved || found[0].balance == number - 1, "\(place)")
            #expect(found[0].amounts.count == shown.amounts.count + (isSaved ? 3 : 2), "\(place)")
            outcomes.insert(isSaved)
            shown = found[0]
        }
        #expect(outcomes.count == 2 && (doubts > 0) == (kind != .servers))
    }

    /// Opens a record log while the server refuses: it shows the state before, and is not written.
    /// - Returns: whether the log is in doubt.
    private func isInDoubt(_ log: URL, _ proxy: PostgreSQLProxy, before: Int) throws -> Bool {
        proxy.setRefusing(true)
        defer { proxy.setRefusing(false) }
        let shown = try JointPair.shown(at: log, options: [NSReadOnlyPersistentStoreOption: true])
        do {
            #expect(try JointPair.shown(at: log) == shown)
            return false
        } catch {
            #expect(error.localizedDescription.contains("cannot be asked") && shown.balance == before)
            return true
        }
    }
}
