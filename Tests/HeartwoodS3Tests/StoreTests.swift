@testable import HeartwoodS3
import Foundation
import RecordLog
import Testing

/// Backups and restores of stores through a bucket.
@Suite("Stores in a bucket", .timeLimit(.minutes(2))) struct StoreTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-s3-\(UUID())").path
    private let bucket = FakeBucket(pageSize: 2)

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    /// Commits with one row each. The first makes the table.
    private func commit(_ names: [String], to store: LogStore) throws {
        let table = try store.snapshot().table(named: "names"), column = try table.column("name", as: String.self)
        for name in names { _ = try store.write { try $0.insert(into: table) { try $0.set(column, to: name) } } }
    }

    private func names(_ path: String) throws -> [String] {
        let store = try LogStore.open(path: path)
        defer { try? store.close() }
        let snapshot = store.snapshot(), table = try snapshot.table(named: "names"), column = try table.column("name", as: String.self)
        var rows = snapshot.rows(in: table), names: [String] = []
        while let row = try rows.next() { names.append(try row[column]) }
        return names
    }

    @Test("A store is backed up in pieces, and restored as of any commit, while every fifth request fails") func roundTrip() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let bucket = bucket
        let server = try LoopbackServer { request in
            switch request.number % 15 {
            case 4: .answer(.error(503, "SlowDown"))
            case 9: .close
            case 14:
                // The answer is lost.
                bucket.answer(request).status < 0 ? .silence : .close
            default: .answer(bucket.answer(request))
            }
        }
        let destination = try S3Destination.testing(server.endpoint, attempts: 10)
        let path = folder + "/store.log", store = try LogStore.open(path: path)
        _ = try store.write { try $0.defineTable(name: "names", columns: [("name", .text)]) }
        var expected: [UInt64: [String]] = [:], all: [String] = []
        for round in 0..<4 {
            for index in 0..<3 {
                all.append("name \(round) \(index)")
                try commit([all.last ?? ""], to: store)
                expected[store.snapshot().sequence] = all
            }
            let report = try await StoreBackup(of: path, to: destination).run()
            #expect(report.sequence == store.snapshot().sequence)
        }
        try store.close()
        #expect(bucket.openUploads == 0)
        #expect(try await BackupArchives(at: destination).verify().isEmpty)
        for (sequence, names) in expected {
            let restored = folder + "/restored-\(sequence).log"
            // The archives of the last round reach the newest commit; earlier states are restored from the first archives.
            let report = try await StoreRestore(from: destination, to: restored).run(at: .commit(sequence))
            #expect(report.sequence == sequence)
            #expect(try self.names(restored) == names)
        }
    }
}
