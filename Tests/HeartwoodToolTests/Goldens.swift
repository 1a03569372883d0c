import Foundation
import RecordLog
import Testing

@testable import Heartwood

/// The golden files of one format version.
///
/// Release 0.1.0 froze those of version 1: they stay as they are (FORMAT.md, "The promise of version 1"; `SHA256SUMS` beside them). For a
/// version that is in development, raise `version` and run
///
///     HEARTWOOD_REGENERATE_GOLDENS=1 swift test --filter Golden
enum Goldens {
    /// The version that today's code writes.
    static let version = 1
    static let releasedVersions: Set = [1]

    /// A store file beside the exports of its entities.
    enum Kind: String, CaseIterable, CustomTestStringConvertible {
        /// A sound store: two checkpoints, and commits after the newer one.
        case sound
        /// The same with half a commit behind its end.
        case torn
        /// The same with one bit changed in the last commit but one, which was durable.
        case corrupt
        /// The same, compacted.
        case compacted
        /// The same with a third checkpoint, and commits before it, between its batches and after it.
        case interleaved

        var testDescription: String { rawValue }
    }

    static let regeneration = "HEARTWOOD_REGENERATE_GOLDENS"
    static let entities = ["Employee", "Entry", "Everything", "Named", "Person", "Place", "Tag", "Task", "Team"]
    static let reader = ToolProcess.root.appendingPathComponent("Tests/FormatReader/heartwood_reader.py").path

    /// The directory of the files, which are made again on request.
    static func directory() throws -> URL { try prepared.get() }

    private static let prepared = Result {
        let directory = ToolProcess.root.appendingPathComponent("Tests/Goldens/v\(version)")
        guard ProcessInfo.processInfo.environment[regeneration] != nil else { return directory }
        guard !releasedVersions.contains(version) else {
            throw ToolFailure(message: "Format version \(version) is released, so its goldens are not made again. Unset \(regeneration).")
        }
        try make(in: directory)
        return directory
    }

    static func file(_ kind: Kind) throws -> URL { try directory().appendingPathComponent("\(kind).golden") }

    /// The expected output of `heartwood export`.
    static func lines(_ kind: Kind, _ entity: String) throws -> String {
        try String(contentsOf: exports(kind, entity, in: directory()), encoding: .utf8)
    }

    /// A copy that a test may open and change.
    static func copy(_ kind: Kind) throws -> String {
        let path = ToolProcess.temporaryPath()
        try FileManager.default.copyItem(atPath: file(kind).path, toPath: path)
        return path
    }

    /// A torn tail and compaction leave a store's content unchanged.
    static func exports(_ kind: Kind, _ entity: String, in directory: URL) -> URL {
        let kind = hasItsOwnExports(kind) ? kind : .sound
        return directory.appendingPathComponent("\(kind).\(entity).jsonl")
    }

    private static func hasItsOwnExports(_ kind: Kind) -> Bool { kind != .torn && kind != .compacted }

    // MARK: Making

    static func make(in directory: URL) throws {
        let work = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-goldens-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: work) }
        func url(_ kind: Kind) -> URL { work.appendingPathComponent("\(kind).golden") }
        var store = try GoldenStore(creating: url(.sound))
        try store.fill()
        let log = try #require(store.log)
        let durable = try #require(try log.commit(log.snapshot().sequence - 1))
        try store.close()
        let sound = try Data(contentsOf: url(.sound))

        try FileManager.default.copyItem(at: url(.sound), to: url(.torn))
        let longer = try GoldenStore(opening: url(.torn))
        try longer.addTail()
        try longer.close()
        let added = try Data(contentsOf: url(.torn))[sound.count...]
        try (sound + added.prefix(added.count / 2)).write(to: url(.torn))

        var corrupt = sound
        corrupt[Int(durable.offset + durable.byteCount / 2)] ^= 0x10
        try corrupt.write(to: url(.corrupt))

        try FileManager.default.copyItem(at: url(.sound), to: url(.compacted))
        let compacting = try GoldenStore(opening: url(.compacted))
        _ = try compacting.log?.compact()
        try compacting.close()

        try FileManager.default.copyItem(at: url(.sound), to: url(.interleaved))
        try GoldenStore.addCommitsBesideACheckpoint(to: url(.interleaved))

        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        for old in try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil) {
            try FileManager.default.removeItem(at: old)
        }
        for kind in Kind.allCases {
            try FileManager.default.copyItem(at: url(kind), to: directory.appendingPathComponent("\(kind).golden"))
            guard hasItsOwnExports(kind) else { continue }
            for entity in entities {
                let accepting = kind == .corrupt ? ["--accept-damage"] : []
                let export = try ToolProcess.runWords(["export", url(kind).path, "--entity", entity] + accepting)
                guard export.status == 0 else { throw ToolFailure(message: export.error) }
                try export.output.write(to: exports(kind, entity, in: directory), atomically: true, encoding: .utf8)
            }
        }
    }

    struct ToolFailure: Error {
        let message: String
    }
}
