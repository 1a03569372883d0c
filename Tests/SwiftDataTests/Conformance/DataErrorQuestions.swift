import Foundation
import SwiftData
import Testing

@Suite struct DataErrorQuestions {
    private static let all: [SwiftDataError] = [
        .includePendingChangesWithBatchSize, .unsupportedPredicate, .unsupportedKeyPath, .sortingPendingChangesWithIdentifiers,
        .unsupportedSortDescriptor, .duplicateConfiguration, .configurationFileNameTooLong, .configurationFileNameContainsInvalidCharacters,
        .configurationSchemaNotFoundInContainerSchema, .loadIssueModelContainer, .modelValidationFailure, .missingModelContext,
        .backwardMigration, .unknownSchema, .historyTokenExpired, .invalidTransactionFetchRequest, .unknownDataStoreSchema,
    ]

    @Test(.reference("swiftdataerror"))
    func `Each error is equal to itself alone`() {
        #expect(Set(Self.all).count == Self.all.count)
        #expect(SwiftDataError.unknownSchema == .unknownSchema && SwiftDataError.unknownSchema != .backwardMigration)
    }

    @Test(.reference("swiftdataerror"))
    func `A catch clause names the error that it handles`() throws {
        let folder = try TemporaryFolder(), configuration = ModelConfiguration("a", url: folder.url.appending(path: "a.store"))
        var caught = false
        do {
            _ = try ModelContainer(for: Garden.self, configurations: configuration, configuration)
        } catch SwiftDataError.loadIssueModelContainer {
            Issue.record("The error is another one.")
        } catch SwiftDataError.duplicateConfiguration {
            caught = true
        }
        #expect(caught)
    }

    @Test(.reference("swiftdataerror/modelvalidationfailure"), arguments: StoreKind.allCases)
    func `A model that breaks the rules of its schema is a validation failure`(kind: StoreKind) throws {
        let stack = try Stack(kind, Canoe.self)
        stack.context.insert(Canoe(name: "empty"))
        #expect(throws: SwiftDataError.modelValidationFailure) { try stack.context.save() }
    }

    @Test(.reference("swiftdataerror/modelvalidationfailure"), arguments: StoreKind.allCases)
    func `After a failed save the model can be mended and saved`(kind: StoreKind) throws {
        let stack = try Stack(kind, Canoe.self), canoe = Canoe(name: "empty")
        stack.context.insert(canoe)
        #expect(throws: (any Error).self) { try stack.context.save() }
        canoe.rowers = [Rower(name: "x")]
        try stack.context.save()
        #expect(try stack.stored(Canoe.self).map { $0.rowers.map(\.name) } == [["x"]])
    }

    @Test(.reference("swiftdataerror/modelvalidationfailure"), arguments: StoreKind.allCases)
    func `A save that fails writes nothing of the other models`(kind: StoreKind) throws {
        let stack = try Stack(kind, Canoe.self)
        stack.context.insert(Canoe(name: "fit", rowers: [Rower(name: "x")]))
        stack.context.insert(Canoe(name: "empty"))
        #expect(throws: (any Error).self) { try stack.context.save() }
        #expect(try stack.count(Canoe.self) == 0 && stack.count(Rower.self) == 0)
    }

    @Test(.reference("swiftdataerror/loadissuemodelcontainer"))
    func `An error has a description for people`() throws {
        let folder = try TemporaryFolder()
        try Data("This is no store.".utf8).write(to: folder.url.appending(path: "a.store"))
        let error = #expect(throws: SwiftDataError.self) {
            try ModelContainer(for: Garden.self, configurations: ModelConfiguration(url: folder.url.appending(path: "a.store")))
        }
        #expect(error?.localizedDescription.isEmpty == false)
    }
}
