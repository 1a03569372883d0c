import Foundation
import Testing

@testable import Heartwood

/// Actions of other programs on the file of an open document.
@Suite struct DocumentFileTests {
    private let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
    }

    /// An open document that checks its file often.
    private func opened(_ people: String...) async throws -> Manuscript {
        let document = Manuscript(scratch["a"])
        document.fileCheckInterval = 0.01
        try await document.save(to: scratch["a"], for: .forCreating)
        for person in people { await document.add(person) }
        try await document.save()
        return document
    }

    #if os(Linux) || os(Android) || canImport(Darwin)
        @Test
        func `A moved file is followed`() async throws {
            let document = try await opened("a")
            await document.add("unsaved")
            try FileManager.default.createDirectory(at: scratch["folder"], withIntermediateDirectories: true)
            try FileManager.default.moveItem(at: scratch["a"], to: scratch["folder/b"])
            try await Manuscript.until { document.events == ["moved to b"] }
            #expect(document.fileURL.resolvingSymlinksInPath() == scratch["folder/b"].resolvingSymlinksInPath())
            #expect(document.documentState == .normal && document.hasUnsavedChanges)
            try await document.save()
            #expect(try await document.names == ["a", "unsaved"])
            try FileManager.default.moveItem(at: scratch["folder/b"], to: scratch["c"])
            try await Manuscript.until { document.events == ["moved to b", "moved to c"] }
            await document.add("c")
            try await document.close()
            #expect(try Manuscript.names(in: scratch["c"]) == ["a", "c", "unsaved"] && scratch.names == ["c", "folder"])
        }
    #endif

    @Test
    func `A removed file is made again`() async throws {
        let document = try await opened("a")
        await document.add("unsaved")
        try FileManager.default.removeItem(at: scratch["a"])
        try await Manuscript.until { document.documentState.contains(.fileMissing) && !document.events.isEmpty }
        #expect(await Manuscript.failure { try await document.save() } != nil)
        #expect(document.documentState == [.fileMissing, .savingError] && document.hasUnsavedChanges && scratch.names.isEmpty)
        // Several looks at the file.
        try await Task.sleep(for: .milliseconds(40))
        #expect(document.events == ["removed"], "told once")
        #expect(try await document.names == ["a", "unsaved"])
        try await document.save(to: scratch["a"], for: .forMoving)
        #expect(document.documentState == .normal && !document.hasUnsavedChanges)
        await document.add("later")
        try await document.close()
        #expect(try Manuscript.names(in: scratch["a"]) == ["a", "later", "unsaved"] && scratch.names == ["a"])
    }

    @Test
    func `A document without a file can be closed`() async throws {
        let document = try await opened("a")
        try FileManager.default.removeItem(at: scratch["a"])
        try await Manuscript.until { document.documentState == .fileMissing }
        try await document.close()
        #expect(document.documentState == .closed && scratch.names.isEmpty)
    }

    private func replace(_ name: String) async throws {
        let other = Manuscript(scratch["other"])
        try await other.save(to: scratch["other"], for: .forCreating)
        await other.add(name)
        try await other.close()
        #expect(rename(scratch["other"].path, scratch["a"].path) == 0)
    }

    @Test
    func `The document takes or refuses a file that replaces its own`() async throws {
        let document = try await opened("a")
        await document.add("unsaved")
        try await replace("theirs")
        try await Manuscript.until { document.documentState == .inConflict && !document.events.isEmpty }
        #expect(document.events == ["replaced"])
        #expect(await Manuscript.failure { try await document.save() } != nil)
        #expect(try Manuscript.names(in: scratch["a"]) == ["theirs"] && document.hasUnsavedChanges)
        try await document.save(to: scratch["mine"], for: .forMoving)
        #expect(document.documentState == .normal)
        #expect(try Manuscript.names(in: scratch["mine"]) == ["a", "unsaved"] && Manuscript.names(in: scratch["a"]) == ["theirs"])
        try await document.close()
    }

    /// A backup is the same store. If the document's handle moved to it, rows would get numbers that objects already have.
    @Test(arguments: [false, true])
    func `An older state of the document is a replacement too`(keepsMine: Bool) async throws {
        let document = try await opened("a")
        try await document.save(to: scratch["backup"], for: .forCopying)
        await document.add("b")
        try await document.save()
        await document.add("unsaved")
        #expect(rename(scratch["backup"].path, scratch["a"].path) == 0)
        try await Manuscript.until { document.documentState == .inConflict && !document.events.isEmpty }
        #expect(document.events == ["replaced"])
        #expect(await Manuscript.failure { try await document.save() } != nil)
        #expect(document.hasUnsavedChanges)
        #expect(try await document.names == ["a", "b", "unsaved"])
        if keepsMine {
            try await document.save(to: scratch["mine"], for: .forMoving)
            #expect(try Manuscript.names(in: scratch["mine"]) == ["a", "b", "unsaved"])
        } else {
            try await document.revert(toContentsOf: scratch["a"])
            #expect(try await document.names == ["a"])
        }
        #expect(document.documentState == .normal && document.events.count == 1)
        await document.add("c")
        try await document.close()
        #expect(try Manuscript.names(in: document.fileURL) == (keepsMine ? ["a", "b", "c", "unsaved"] : ["a", "c"]))
    }

    @Test
    func `A revert shows the file that has replaced the old one`() async throws {
        let document = try await opened("a")
        await document.add("unsaved")
        try await replace("theirs")
        try await Manuscript.until { document.documentState == .inConflict }
        try await document.revert(toContentsOf: scratch["a"])
        #expect(document.documentState == .normal && !document.hasUnsavedChanges)
        #expect(try await document.names == ["theirs"])
        await document.add("mine")
        try await document.close()
        #expect(try Manuscript.names(in: scratch["a"]) == ["mine", "theirs"])
    }

    @Test
    func `A file that is not a store is a conflict until it is gone`() async throws {
        let document = try await opened("a")
        try FileManager.default.moveItem(at: scratch["a"], to: scratch["aside"])
        try Data("letter".utf8).write(to: scratch["a"], options: .withoutOverwriting)
        try await Manuscript.until { document.documentState == .inConflict || !document.events.isEmpty }
        // The document may have followed the file before the other one came.
        if document.documentState == .inConflict {
            #expect(await Manuscript.failure { try await document.revert(toContentsOf: scratch["a"]) } == NSPersistentStoreOpenError)
            try FileManager.default.removeItem(at: scratch["a"])
            try FileManager.default.moveItem(at: scratch["aside"], to: scratch["a"])
            // It may have followed the moved file meanwhile, and be in its normal state there.
            try await Manuscript.until { document.documentState == .normal && document.fileURL.lastPathComponent == scratch["a"].lastPathComponent }
        }
        await document.add("b")
        try await document.close()
        #expect(try Manuscript.names(in: scratch[document.fileURL.lastPathComponent]) == ["a", "b"])
    }

    @Test
    func `The store's own work is not reported as a change`() async throws {
        let document = try await opened("a", "b")
        let before = try #require(try FileManager.default.attributesOfItem(atPath: scratch["a"].path)[.systemFileNumber] as? NSNumber)
        let other = Manuscript(scratch["a"])
        try await other.open()
        try #require(other.store).compactRecordLog()
        await other.add("c")
        try await other.close()
        let after = try #require(try FileManager.default.attributesOfItem(atPath: scratch["a"].path)[.systemFileNumber] as? NSNumber)
        #expect(before != after)
        // Several looks at the file.
        try await Task.sleep(for: .milliseconds(50))
        #expect(document.documentState == .normal && document.events.isEmpty)
        #expect(try await document.names == ["a", "b", "c"])
        try await document.close()
    }
}
