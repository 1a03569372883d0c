import Foundation
import Testing

@testable import RecordLog

/// A commit with a foreign frame among its own, which no writer makes, behind valid checksums.
@Suite struct InterruptedCommitTests {
    /// Makes a store of one commit, and writes a second one by hand.
    private func make(_ path: String, between kind: FrameKind?) throws {
        var options = StoreOptions()
        options.durability = .none
        options.segmentShift = 16
        let store = try LogStore.open(path: path, options: options)
        try store.write { try $0.setSystemValue(20, [1]) }
        try store.close()
        let storage = try POSIXFileSystem().open(path, .readWrite), snapshot = store.snapshot(), sequence = snapshot.sequence + 1
        let file = LogFile(storage: storage, path: path, identity: snapshot.file.identity, maps: true, counters: Counters())
        let appender = FrameAppender(file: file, at: store.log.end, sequence: sequence, counters: Counters())
        func append(_ row: UInt64) throws {
            let address = try [UInt8](arrayLiteral: 1, 2, 3).withUnsafeBytes {
                try appender.appendRow(.put, RowReference(table: .system, row: row), body: $0, version: 1, previous: 0)
            }
            #expect(address > store.log.end)
        }
        try append(21)
        try appender.closeRows()
        if let kind { _ = try appender.append(kind, [1, 2, 3, 4, 5, 6, 7, 8]) }
        try append(22)
        _ = try appender.appendFooter(
            CommitFooter(
                sequence: sequence, previousChecksum: snapshot.commitChecksum, timestamp: 0, durableSequence: 0, rowCount: 2,
                authorLength: 0),
            author: [])
        try appender.flush()
    }

    /// The engine once read over such a frame.
    @Test
    func `Both readers stop before an interrupted commit`() throws {
        for kind in [nil, .pad, .primaryPage, .primaryDirectory, .indexBlock, .indexRoot, .checkpoint, .batch] as [FrameKind?] {
            let path = ToolProcess.temporaryPath()
            defer { ToolProcess.cleanUp(path) }
            try make(path, between: kind)
            let isWhole = kind == nil || kind == .pad
            if FormatReader.python != nil {
                let check = try FormatReader.run([path, "--check"])
                let commits = "\ncommits: \(isWhole ? 2 : 1)\n"
                #expect(check.output.contains(commits), "\(String(describing: kind)): \(check.output)\(check.error)")
                #expect(check.output.hasPrefix("torn: ") == !isWhole)
            }
            let verified = try StoreVerification.verify(path: path)
            #expect(verified.tail == (isWhole ? .clean : .torn) && verified.problems.isEmpty, "\(String(describing: kind)): \(verified)")
            for isReadOnly in [true, false] {
                var options = StoreOptions()
                options.isReadOnly = isReadOnly
                let store = try LogStore.open(path: path, options: options)
                #expect(store.snapshot().sequence == (isWhole ? 2 : 1), "\(String(describing: kind))")
                #expect(try (store.snapshot().unsafeSystemValue(22) != nil) == isWhole)
                try store.close()
            }
        }
    }
}
