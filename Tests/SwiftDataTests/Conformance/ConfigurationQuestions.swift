import Foundation
import SwiftData
import Testing

private let file = Source.source(
    "Hacking with Swift, How to change SwiftData's underlying storage filename",
    "https://www.hackingwithswift.com/quick-start/swiftdata/how-to-change-swiftdatas-underlying-storage-filename")
private let custom = Source.source(
    "Hacking with Swift, How to configure a custom ModelContainer using ModelConfiguration",
    "https://www.hackingwithswift.com/quick-start/swiftdata/how-to-configure-a-custom-modelcontainer-using-modelconfiguration")

@Suite struct ConfigurationQuestions {
    @Test(file)
    func `The default store is the file default.store`() {
        let configuration = ModelConfiguration()
        #expect(configuration.url.lastPathComponent == "default.store" && configuration.url.isFileURL)
        #expect(!configuration.isStoredInMemoryOnly && configuration.allowsSave && configuration.schema == nil)
    }

    @Test(.reference("modelconfiguration/name"))
    func `A configuration's name is that of its file`() {
        let configuration = ModelConfiguration("plants")
        #expect(configuration.name == "plants" && configuration.url.lastPathComponent == "plants.store")
        #expect(configuration.url.deletingLastPathComponent() == ModelConfiguration().url.deletingLastPathComponent())
    }

    @Test(custom)
    func `A configuration with a URL has its store there`() throws {
        let folder = try TemporaryFolder(), url = folder.url.appending(path: "database.sqlite")
        let configuration = ModelConfiguration("named", url: url)
        #expect(configuration.url == url && configuration.id == url && configuration.name == "named")
        _ = try ModelContainer(for: Garden.self, configurations: configuration)
        #expect(FileManager.default.fileExists(atPath: url.path))
    }

    @Test(.reference("modelconfiguration/init(isstoredinmemoryonly:)"))
    func `A store in memory has no file`() {
        #expect(ModelConfiguration(isStoredInMemoryOnly: true).url.path == "/dev/null")
        #expect(ModelConfiguration(isStoredInMemoryOnly: true).isStoredInMemoryOnly)
    }

    @Test(.reference("modelconfiguration/init(for:isstoredinmemoryonly:)"))
    func `A configuration of classes has their schema`() {
        let configuration = ModelConfiguration(for: Pond.self, Shed.self, isStoredInMemoryOnly: true)
        #expect(configuration.schema?.entitiesByName.keys.sorted() == ["Fish", "Pond", "Rake", "Shed"])
    }

    @Test(.reference("modelconfiguration/allowssave"))
    func `A configuration that allows no save lets models be fetched, and a save throws`() throws {
        let stack = try Stack(.database, Garden.self)
        try stack.save(Garden(name: "Kew"))
        let reading = try stack.reopened { ModelConfiguration(url: $0, allowsSave: false) }
        let garden = try #require(try reading.context.fetch(FetchDescriptor<Garden>()).first)
        garden.area = 4
        #expect(throws: (any Error).self) { try reading.context.save() }
        reading.context.rollback()
        reading.context.insert(Garden(name: "Wisley"))
        #expect(throws: (any Error).self) { try reading.context.save() }
        #expect(try stack.stored(Garden.self).map(\.area) == [0])
    }

    @Test(
        .source(
            "Hacking with Swift, How to stop SwiftData syncing with CloudKit",
            "https://www.hackingwithswift.com/quick-start/swiftdata/how-to-stop-swiftdata-syncing-with-cloudkit"))
    func `A configuration may say that nothing is synchronized`() throws {
        let folder = try TemporaryFolder()
        let configuration = ModelConfiguration(url: folder.url.appending(path: "a.store"), cloudKitDatabase: .none)
        #expect(configuration.cloudKitContainerIdentifier == nil)
        _ = try ModelContainer(for: Garden.self, configurations: configuration)
    }

    @Test(.reference("modelconfiguration"))
    func `Equal configurations are one in a set`() throws {
        let url = URL(filePath: "/tmp/a.store")
        #expect(Set([ModelConfiguration(url: url), ModelConfiguration(url: url)]).count == 1)
        #expect(ModelConfiguration(url: url) != ModelConfiguration(url: url, allowsSave: false))
        #expect(ModelConfiguration(url: url) != ModelConfiguration("b", url: url))
    }

    // MARK: Errors

    @Test(.reference("swiftdataerror/duplicateconfiguration"))
    func `Two configurations with one name are refused`() throws {
        let folder = try TemporaryFolder()
        #expect(throws: SwiftDataError.duplicateConfiguration) {
            try ModelContainer(
                for: Garden.self, Pond.self,
                configurations: ModelConfiguration("a", schema: Schema([Garden.self]), url: folder.url.appending(path: "a.store")),
                ModelConfiguration("a", schema: Schema([Pond.self]), url: folder.url.appending(path: "b.store")))
        }
    }

    @Test(.reference("swiftdataerror/configurationschemanotfoundincontainerschema"))
    func `A configuration's classes must be in the container's schema`() throws {
        let folder = try TemporaryFolder()
        #expect(throws: SwiftDataError.configurationSchemaNotFoundInContainerSchema) {
            try ModelContainer(
                for: Garden.self,
                configurations: ModelConfiguration("a", schema: Schema([Garden.self]), url: folder.url.appending(path: "a.store")),
                ModelConfiguration("b", schema: Schema([Pond.self]), url: folder.url.appending(path: "b.store")))
        }
        #expect(throws: SwiftDataError.configurationSchemaNotFoundInContainerSchema) {
            try ModelContainer(
                for: Garden.self, configurations: ModelConfiguration(schema: Schema([Pond.self]), url: folder.url.appending(path: "c.store")))
        }
    }

    @Test(.reference("swiftdataerror/configurationfilenametoolong"))
    func `A file's name can be too long`() {
        let configuration = ModelConfiguration(String(repeating: "x", count: 400))
        #expect(throws: SwiftDataError.configurationFileNameTooLong) { try configuration.validate() }
        #expect(throws: SwiftDataError.configurationFileNameTooLong) { try ModelContainer(for: Garden.self, configurations: configuration) }
    }

    @Test(.reference("swiftdataerror/configurationfilenamecontainsinvalidcharacters"))
    func `A file's name can have characters that are not allowed`() {
        let configuration = ModelConfiguration("a/b")
        #expect(throws: SwiftDataError.configurationFileNameContainsInvalidCharacters) { try configuration.validate() }
        #expect(throws: Never.self) { try ModelConfiguration("plants").validate() }
    }

    @Test(.reference("swiftdataerror/loadissuemodelcontainer"))
    func `A container whose store cannot be opened is refused, and the file is left as it is`() throws {
        let folder = try TemporaryFolder(), url = folder.url.appending(path: "a.store"), content = Data("This is no store.".utf8)
        try content.write(to: url)
        #expect(throws: SwiftDataError.loadIssueModelContainer) {
            try ModelContainer(for: Garden.self, configurations: ModelConfiguration(url: url))
        }
        #expect(try Data(contentsOf: url) == content)
    }
}
