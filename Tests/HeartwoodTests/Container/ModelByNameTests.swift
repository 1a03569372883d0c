import Foundation
import Testing

@testable import Heartwood

/// How a container finds its model by its name.
@Suite struct ModelByNameTests {
    @Test
    func `A model is found in package resources`() throws {
        let scratch = try ScratchDirectory()
        for name in ["App_App.resources", "App_Other.bundle/Contents/Resources"] {
            try FileManager.default.createDirectory(at: scratch[name], withIntermediateDirectories: true)
        }
        let found = ModelFinder.resources(beside: scratch.directory).map(\.path)
        #expect(found.contains(scratch["App_App.resources"].path) && found.contains(scratch["App_Other.bundle/Contents/Resources"].path))
        let directories = ModelFinder.directories.map(\.standardizedFileURL.path)
        let executable = try #require(Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent().path)
        #expect(directories.contains(executable) && directories.contains(FileManager.default.currentDirectoryPath))
        #expect(Set(directories).count == directories.count)
        let error = #expect(throws: (any Error).self) { try ModelFinder.model(named: "Nowhere", module: nil) }
        #expect(code(error) == NSPersistentStoreOpenError)
        for directory in ModelFinder.directories { #expect(error?.localizedDescription.contains(directory.path) == true) }
        #expect(error?.localizedDescription.contains("Nowhere.xcdatamodeld, Nowhere.xcdatamodel, Nowhere.momd, Nowhere.mom") == true)
    }

    /// On Apple's platforms such a container is nil, and the program goes on until it uses it. A store must not meet the empty model: a migration
    /// to that would remove all objects.
    @Test
    func `A container without a model opens no store and says why`() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let scratch = try ScratchDirectory()
            var errors: [(any Error)?] = []
            let container = NSPersistentContainer(name: "Nowhere")
            container.persistentStoreDescriptions = ["a", "b"].map { NSPersistentStoreDescription(url: scratch[$0]) }
            container.loadPersistentStores { errors.append($1) }
            precondition(errors.count == 2 && errors.allSatisfy { code($0) == NSPersistentStoreOpenError })
            await #expect(throws: (any Error).self) { try await container.loadPersistentStores() }
            precondition(scratch.names.isEmpty && container.persistentStoreCoordinator.persistentStores.isEmpty)
            precondition(container.managedObjectModel.entities.isEmpty && container.viewContext.hasChanges == false)
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("There is no model named Nowhere") && text.contains("init(name:managedObjectModel:)"))
    }

    @Test
    func `A container whose model is damaged opens no store and says where`() async throws {
        await #expect(processExitsWith: .success) {
            let scratch = try ScratchDirectory()
            var errors: [(any Error)?] = []
            try write("<model><entity nam", to: scratch["Resources/Torn.xcdatamodel"])
            precondition(FileManager.default.changeCurrentDirectoryPath(scratch.directory.path))
            let container = NSPersistentContainer(name: "Torn")
            container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: scratch["a"])]
            container.loadPersistentStores { errors.append($1) }
            precondition(errors.count == 1 && errors[0]?.localizedDescription.contains("Torn.xcdatamodel/contents") == true)
            precondition(scratch.names == ["Resources"])
        }
    }

    /// A program of several targets, each with a model of the name that Xcode proposes. The first one in the alphabet was taken for all.
    @Test(arguments: ["resources", "bundle/Contents/Resources"])
    func `A model of the calling module's target comes before others of its name`(ending: String) throws {
        let scratch = try ScratchDirectory()
        for target in ["Garden", "Kitchen", "Dining-Room"] { try write(text(of: target), to: scratch["App_\(target).\(ending)/Model.xcdatamodel"]) }
        let directories = ModelFinder.resources(beside: scratch.directory)
        let cases = [("Garden", "Garden"), ("Kitchen", "Kitchen"), ("Dining_Room", "Dining-Room")]
        for (module, target) in cases {
            let entity = try #require(try ModelFinder.model(named: "Model", module: module, in: directories).entities.first)
            #expect(entity.name == target && entity.managedObjectClassName == "\(module).Item")
        }
        // Code of another module makes containers for all.
        for module in ["Library", "den", nil] {
            let entity = try #require(try ModelFinder.model(named: "Model", module: module, in: directories).entities.first)
            #expect(entity.name == "Dining-Room" && entity.managedObjectClassName == ".Item")
        }
    }

    /// In the Resources of the working directory, of which a process has only one.
    @Test
    func `A container finds its model by name`() async {
        await #expect(processExitsWith: .success) {
            let scratch = try ScratchDirectory()
            // A name of its own: where other packages were built into the same folder, their models lie beside the tests.
            try write(text(of: "Shop"), to: scratch["Resources/CornerShop.xcdatamodel"])
            precondition(FileManager.default.changeCurrentDirectoryPath(scratch.directory.path))
            precondition(NSPersistentContainer(name: "CornerShop").managedObjectModel.entitiesByName["Shop"] != nil)
        }
    }
}

private func text(of entity: String) -> String {
    "<?xml version=\"1.0\"?><model><entity name=\"\(entity)\" representedClassName=\".Item\">"
        + "<attribute name=\"n\" optional=\"YES\" attributeType=\"String\"/></entity></model>"
}

private func write(_ text: String, to model: URL) throws {
    try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
    try text.write(to: model.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
}
