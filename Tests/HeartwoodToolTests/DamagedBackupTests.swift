import Foundation
import Testing

@testable import Heartwood

/// What `backup status`, `backup verify` and `cherry-pick` say of backups whose files are damaged or gone, and their exit codes.
@Suite struct DamagedBackupTests {
    enum Harm: CaseIterable {
        case deleted, cut, emptied

        func apply(to path: String) throws {
            let file = URL(fileURLWithPath: path)
            switch self {
            case .deleted: try FileManager.default.removeItem(at: file)
            case .cut: try Data(contentsOf: file).dropLast(100).write(to: file)
            case .emptied: try Data().write(to: file)
            }
        }
    }

    /// A store and its backup, with an archive for each of four saves: lantern and other; lantern changed; other deleted; lantern changed.
    private final class Scene {
        private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("damaged backup \(UUID())")
        private(set) var commits: [UInt64] = []
        private(set) var other = ""
        var store: String { folder.appendingPathComponent("store.heartwood").path }
        var backups: String { folder.appendingPathComponent("backups").path }

        init() throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let model = try NSManagedObjectModel.load(contentsOf: URL(fileURLWithPath: ToolProcess.model))
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(
                ofType: NSRecordLogStoreType, configurationName: nil, at: URL(fileURLWithPath: store), options: nil)
            let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            let objects = ["lantern", "other"].map { name in
                let object = NSEntityDescription.insertNewObject(forEntityName: "Package", into: context)
                object.setValue(name, forKey: "name")
                return object
            }
            for number in 0..<4 {
                switch number {
                case 0: break
                case 2: context.delete(objects[1])
                default: objects[0].setValue("\(number)", forKey: "version")
                }
                try context.save()
                if number == 0 { other = objects[1].objectID.uriRepresentation().absoluteString }
                commits.append(coordinator.persistentStores[0].commitNumber ?? 0)
                #expect(try ToolProcess.run("backup", store, backups).status == 0)
            }
            try coordinator.remove(coordinator.persistentStores[0])
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        /// The archive whose last commit is that of a save.
        func archive(_ save: Int) throws -> String {
            let names = FileManager.default.enumerator(atPath: backups)?.compactMap { $0 as? String }.filter { $0.hasSuffix(".hwlog") } ?? []
            return backups + "/" + (try #require(names.first { name in
                URL(fileURLWithPath: name).lastPathComponent.split(separator: "-").dropFirst(2).first.flatMap { UInt64($0) } == commits[save]
            }))
        }

        func pick(_ more: String...) throws -> ToolProcess.Result {
            try ToolProcess.runWords(["cherry-pick", backups, "--only", "Package WHERE name == 'other'", "--into", store] + more)
        }

        func status() throws -> ToolProcess.Result { try ToolProcess.run("backup", "status", store, backups) }
        func count() throws -> String { try ToolProcess.run("query", store, "Package", "--count").output }
    }

    @Test(arguments: Harm.allCases)
    func `status tells a damaged or missing file in the middle, which commits it costs, and ends with exit code 1`(harm: Harm) throws {
        let scene = try Scene()
        let whole = try scene.status()
        let looked = "up to date\nlooked at: names, lengths and both ends of 4 archives, and all of the newest;"
        #expect(whole.status == 0 && whole.output.contains(looked), "\(whole)")
        let damaged = try scene.archive(1)
        try harm.apply(to: damaged)
        let found = try scene.status(), lost = "commits \(scene.commits[1]) to \(scene.commits[3]) cannot be restored: "
        #expect(found.status == 1 && !found.output.contains("up to date") && found.output.contains("behind by 3 commits, since 2"), "\(found)")
        #expect(found.output.contains(lost), "\(found)")
        let verified = try ToolProcess.run("backup", "verify", scene.backups)
        #expect(verified.status == 1 && verified.output.contains(lost), "\(verified)")
        if harm != .deleted {
            #expect(found.output.contains("the log archive is damaged") && found.output.contains("move damaged files elsewhere"), "\(found)")
            try FileManager.default.removeItem(atPath: damaged)
        }
        #expect(try ToolProcess.run("backup", scene.store, scene.backups).status == 0)
        #expect(try scene.status().status == 0)
        #expect(try ToolProcess.run("backup", "verify", scene.backups).status == 0)
    }

    @Test(arguments: Harm.allCases)
    func `status does not call a backup up to date whose older commits are lost, though the newest is there`(harm: Harm) throws {
        let scene = try Scene()
        #expect(try ToolProcess.run("compact", scene.store).status == 0)
        #expect(try ToolProcess.run("backup", scene.store, scene.backups).status == 0)
        #expect(try scene.status().status == 0)
        try harm.apply(to: try scene.archive(1))
        let found = try scene.status()
        #expect(found.status == 1 && found.output.contains("the newest commit is there, and older parts of the backup are damaged"), "\(found)")
        // The full copy of the new file has the newest commit.
        #expect(found.output.contains("commits \(scene.commits[1]) to \(scene.commits[2]) cannot be restored: "), "\(found)")
        // Nothing can use the archives behind the gap.
        if harm != .deleted { try FileManager.default.removeItem(atPath: try scene.archive(1)) }
        #expect(try ToolProcess.run("backup", "prune", scene.backups, "--keep-last", "1").status == 0)
        #expect(try scene.status().status == 0)
        #expect(try ToolProcess.run("backup", "verify", scene.backups).status == 0)
    }

    @Test(arguments: Harm.allCases)
    func `cherry-pick from a backup without its newest state saves nothing and names the state that it can take`(harm: Harm) throws {
        let scene = try Scene()
        try harm.apply(to: try scene.archive(3))
        for more in [[], ["--dry-run"], ["--conflicts", "overwrite"]] {
            let refused = try ToolProcess.runWords(
                ["cherry-pick", scene.backups, "--only", "Package", "--into", scene.store] + more)
            #expect(refused.status == 1 && refused.output.isEmpty, "\(more): \(refused)")
            #expect(refused.error.contains("`--at \(scene.commits[2])` takes the newest state before it that the backup has"), "\(refused)")
        }
        #expect(try scene.count() == "1\n")
        let named = try scene.pick("--at", "\(scene.commits[2])")
        #expect(named.status == 0 && named.output.contains("\n0 objects found"), "\(named)")
        let older = try scene.pick("--at", "\(scene.commits[1])")
        #expect(older.status == 0 && older.output.hasSuffix("saved\n"), "\(older)")
        #expect(older.output.hasPrefix("from commit \(scene.commits[1]) of lineage ") && older.output.contains("+ \(scene.other)\n"), "\(older)")
        // Again: it is there.
        let again = try scene.pick("--at", "\(scene.commits[1])")
        #expect(again.status == 0 && again.output.hasSuffix("\n1 object found; 0 inserted, 0 updated, 0 conflicts; nothing to save\n"), "\(again)")
    }

    @Test(arguments: Harm.allCases)
    func `cherry-pick from a backup that is damaged in the middle takes what comes before, when it is asked for that`(harm: Harm) throws {
        let scene = try Scene()
        try harm.apply(to: try scene.archive(1))
        for more in [[], ["--at", "\(scene.commits[1])"], ["--at", "2999-12-31"]] {
            let refused = try ToolProcess.runWords(
                ["cherry-pick", scene.backups, "--only", "Package", "--into", scene.store] + more)
            #expect(refused.status == 1 && refused.error.contains("`--at \(scene.commits[0])` takes"), "\(more): \(refused)")
        }
        #expect(try scene.count() == "1\n")
        let older = try scene.pick("--at", "\(scene.commits[0])")
        #expect(older.status == 0 && older.output.contains("+ \(scene.other)\n"), "\(older)")
        #expect(try ToolProcess.run("verify", scene.store).status == 0)
    }

    @Test(arguments: Harm.allCases)
    func `cherry-pick from a backup of which nothing can be had ends with exit code 1 and proposes no state`(harm: Harm) throws {
        let scene = try Scene()
        try harm.apply(to: try scene.archive(0))
        for more in [[], ["--at", "\(scene.commits[1])"], ["--at", "1"]] {
            let refused = try ToolProcess.runWords(
                ["cherry-pick", scene.backups, "--only", "Package", "--into", scene.store] + more)
            #expect(refused.status == 1 && !refused.error.contains("--at") && !refused.error.isEmpty, "\(more): \(refused)")
        }
        try FileManager.default.removeItem(atPath: scene.backups)
        try FileManager.default.createDirectory(atPath: scene.backups, withIntermediateDirectories: true)
        let empty = try scene.pick()
        #expect(empty.status == 1 && empty.error.contains("no log archives"), "\(empty)")
        #expect(try scene.count() == "1\n")
    }
}
