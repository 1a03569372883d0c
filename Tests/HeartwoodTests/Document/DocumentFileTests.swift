import Foundation
import Testing

@testable import Heartwood

/// Actions of other programs on the file of an open document.
@Suite struct DocumentFileTests {
    private let place: StorePlace

    init() throws {
        place = try StorePlace()
    }

    /// An open document that checks its file often.
    private func opened(_ people: String...) async throws -> Manuscript {
        let document = Manuscript(place["a"])
        document.fileCheckInterval = 0.01
        try await document.save(to: place["a"], for: .forCreating)
        for person in people { await document.add(person) }
        try await document.save()
        return document
    }

    #if os(Linux) || os(Android) || canImport(Darwin)
        @Test("A moved file is followed") func aFileThatIsMovedIsFollowed() async throws {
            let document = try await opened("a")
            await document.add("unsaved")
            try FileManager.default.createDirectory(at: place["folder"], withIntermediateDirectories: true)
            try FileManager.default.moveItem(at: place["a"], to: place["folder/b"])
            try await Manuscript.until { document.events == ["moved to b"] }
            #expect(document.fileURL.resolvingSymlinksInPath() == place["folder/b"].resolvingSymlinksInPath())
            #expect(document.documentState == .normal && document.hasUnsavedChanges)
            try await document.save()
            #expect(try await document.names == ["a", "unsaved"])
            try FileManager.default.moveItem(at: place["folder/b"], to: place["c"])
            try await Manuscript.until { document.events == ["moved to b", "moved to c"] }
            await document.add("c")
            try await document.close()
            #expect(try Manuscript.names(in: place["c"]) == ["a", "c", "unsaved"] && place.names == ["c", "folder"])
        }
    #endif

    @Test("A removed file is made again") func aFileThatIsRemovedIsMadeAgain() async throws {
        let document = try await opened("a")
        await document.add("unsaved")
        try FileManager.default.removeItem(at: place["a"])
        try await Manuscript.until { document.documentState.contains(.fileMissing) && !document.events.isEmpty }
        #expect(await Manuscript.failure { try await document.save() } != nil)
        #expect(document.documentState == [.fileMissing, .savingError] && document.hasUnsavedChanges && place.names.isEmpty)
        try await Task.sleep(for: .milliseconds(40))
        #expect(document.events == ["removed"], "told once")
        #expect(try await document.names == ["a", "unsaved"])
        try await document.save(to: place["a"], for: .forMoving)
        #expect(document.documentState == .normal && !document.hasUnsavedChanges)
        await document.add("later")
        try await document.close()
        #expect(try Manuscript.names(in: place["a"]) == ["a", "later", "unsaved"] && place.names == ["a"])
    }

    @Test("A document without a file can be closed") func aDocumentWithoutAFileIsClosed() async throws {
        let document = try await opened("a")
        try FileManager.default.removeItem(at: place["a"])
        try await Manuscript.until { document.documentState == .fileMissing }
        try await document.close()
        #expect(document.documentState == .closed && place.names.isEmpty)
    }

    private func replace(_ name: String) async throws {
        let other = Manuscript(place["other"])
        try await other.save(to: place["other"], for: .forCreating)
        await other.add(name)
        try await other.close()
        #expect(rename(place["other"].path, place["a"].path) == 0)
    }

    @Test("The document takes or refuses a file that replaces its own") func aFileThatIsReplacedIsTakenOrLeft() async throws {
        let document = try await opened("a")
        await document.add("unsaved")
        try await replace("theirs")
        try await Manuscript.until { document.documentState == .inConflict && !document.events.isEmpty }
        #expect(document.events == ["replaced"])
        #expect(await Manuscript.failure { try await document.save() } != nil)
        #expect(try Manuscript.names(in: place["a"]) == ["theirs"] && document.hasUnsavedChanges)
        try await document.save(to: place["mine"], for: .forMoving)
        #expect(document.documentState == .normal)
        #expect(try Manuscript.names(in: place["mine"]) == ["a", "unsaved"] && Manuscript.names(in: place["a"]) == ["theirs"])
        try await document.close()
    }

    /// A backup is the same store. If the document's handle moved to it, rows would get numbers that objects already have.
    @Test("An older state of the document is a replacement too", arguments: [false, true])
    func anOlderStateOfTheDocumentIsAReplacementToo(keepsMine: Bool) async throws {
        let document = try await opened("a")
        try await document.save(to: place["backup"], for: .forCopying)
        await document.add("b")
        try await document.save()
        await document.add("unsaved")
        #expect(rename(place["backup"].path, place["a"].path) == 0)
        try await Manuscript.until { document.documentState == .inConflict && !document.events.isEmpty }
        #expect(document.events == ["replaced"])
        #expect(await Manuscript.failure { try await document.save() } != nil)
        #expect(document.hasUnsavedChanges)
        #expect(try await document.names == ["a", "b", "unsaved"])
        if keepsMine {
            try await document.save(to: place["mine"], for: .forMoving)
            #expect(try Manuscript.names(in: place["mine"]) == ["a", "b", "unsaved"])
        } else {
            try await document.revert(toContentsOf: place["a"])
            #expect(try await document.names == ["a"])
        }
        #expect(document.documentState == .normal && document.events.count == 1)
        await document.add("c")
        try await document.close()
        #expect(try Manuscript.names(in: document.fileURL) == (keepsMine ? ["a", "b", "c", "unsaved"] : ["a", "c"]))
    }

    @Test("A revert shows the file that has replaced the old one") func whatHasTakenTheFilesPlaceIsShownByARevert() async throws {
        let document = try await opened("a")
        await document.add("unsaved")
        try await replace("theirs")
        try await Manuscript.until { document.documentState == .inConflict }
        try await document.revert(toContentsOf: place["a"])
        #expect(document.documentState == .normal && !document.hasUnsavedChanges)
        #expect(try await document.names == ["theirs"])
        await document.add("mine")
        try await document.close()
        #expect(try Manuscript.names(in: place["a"]) == ["mine", "theirs"])
    }

    @Test("A file that is not a store is a conflict until it is gone") func aFileThatIsNoStoreIsAConflictTooUntilItIsGone() async throws {
        let document = try await opened("a")
        try FileManager.default.moveItem(at: place["a"], to: place["aside"])
        try Data("letter".utf8).write(to: place["a"], options: .withoutOverwriting)
        try await Manuscript.until { document.documentState == .inConflict || !document.events.isEmpty }
        // The document may have followed the file before the other one came.
        if document.documentState == .inConflict {
            #expect(await Manuscript.failure { try await document.revert(toContentsOf: place["a"]) } == NSPersistentStoreOpenError)
            try FileManager.default.removeItem(at: place["a"])
            try FileManager.default.moveItem(at: place["aside"], to: place["a"])
            // It may have followed the moved file meanwhile, and be in its normal state there.
            try await Manuscript.until { document.documentState == .normal && document.fileURL.lastPathComponent == place["a"].lastPathComponent }
        }
        await document.add("b")
        try await document.close()
        #expect(try Manuscript.names(in: place[document.fileURL.lastPathComponent]) == ["a", "b"])
    }

    @Test("The store's own work is not reported as a change") func whatTheStoreDoesItselfIsNoNews() async throws {
        let document = try await opened("a", "b")
        let before = try #require(try FileManager.default.attributesOfItem(atPath: place["a"].path)[.systemFileNumber] as? NSNumber)
        let other = Manuscript(place["a"])
        try await other.open()
        try #require(other.store).compactRecordLog()
        await other.add("c")
        try await other.close()
        let after = try #require(try FileManager.default.attributesOfItem(atPath: place["a"].path)[.systemFileNumber] as? NSNumber)
        #expect(before != after)
        try await Task.sleep(for: .milliseconds(50))
        #expect(document.documentState == .normal && document.events.isEmpty)
        #expect(try await document.names == ["a", "b", "c"])
        try await document.close()
    }
}
