import Foundation
import HeartwoodTestSupport
import Testing

@testable import HeartwoodModelCode

/// The generator of classes with damaged model files.
@Suite struct MutatedCodeModelTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let count = environment["HEARTWOOD_MODEL_MUTATIONS"].flatMap { Int($0) } ?? 150
    private static let seed = environment["HEARTWOOD_MODEL_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 1...UInt64.max)

    private static let model = """
        <?xml version="1.0" encoding="UTF-8"?>
        <model><entity name="Person" representedClassName="Person" codeGenerationType="class">
            <attribute name="name" attributeType="String"/><attribute name="age" attributeType="Integer 16" usesScalarValueType="YES"/>
            <relationship name="friends" toMany="YES" ordered="YES" destinationEntity="Child"/><fetchedProperty name="same"/></entity>
            <entity name="Child" representedClassName=".Child" parentEntity="Person" codeGenerationType="category"/></model>
        """

    @Test
    func `A mutated model file gives classes, or an error with its file`() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("model-\(UUID().uuidString).xcdatamodel")
        defer { try? FileManager.default.removeItem(at: file) }
        var samples = [Array(Self.model.utf8)]
        for path in SharedModels.versions() { samples += FileManager.default.contents(atPath: path + "/contents").map { [Array($0)] } ?? [] }
        if samples.count == 1 { print("../shared/models is absent; only the test's own model is mutated.") }
        print("classes: \(Self.count) mutations with HEARTWOOD_MODEL_SEED=\(Self.seed)")
        var mutator = FileMutator(seed: Self.seed, samples: samples)
        var refused = 0
        for round in 0..<Self.count {
            let sample = round % 2 == 0 ? samples[0] : samples.randomElement(using: &mutator.random) ?? samples[0]
            try Data(mutator.mutated(sample)).write(to: file)
            do {
                let files = ClassWriter(try CodeModelReader.read(file.path), importing: "Heartwood", all: true).files()
                #expect(files.allSatisfy { !$0.text.isEmpty }, "seed \(Self.seed)")
            } catch {
                refused += 1
                let text = (error as? CodeError)?.description ?? ""
                #expect(text.hasPrefix(file.path), "seed \(Self.seed): \(error)")
            }
        }
        print("classes: \(Self.count - refused) read, \(refused) refused")
        #expect(refused > 0 && refused < Self.count, "seed \(Self.seed)")
    }

    @Test
    func `A byte that is no UTF-8 in an element's name is refused with its line and column`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("model-\(UUID().uuidString).xcdatamodeld")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder.appendingPathComponent("A.xcdatamodel"), withIntermediateDirectories: true)
        let contents = folder.appendingPathComponent("A.xcdatamodel/contents"), marker = folder.appendingPathComponent(".xccurrentversion")
        try Data(Array("\n<mod".utf8) + [0xFF] + Array("el/>".utf8)).write(to: contents)
        let error = #expect(throws: CodeError.self) { try CodeModelReader.read(folder.path) }
        #expect(error?.description.contains("contents:2: column 5: is not in UTF-8") == true, "\(error?.description ?? "")")
        try Data(Array("<plist><di".utf8) + [0xFF] + Array("ct/></plist>".utf8)).write(to: marker)
        #expect(throws: CodeError.self) { try CodeModelReader.read(folder.path) }
        try Data("<plist><dict><key>_XCCurrentVersionName</key><string>A.xcdatamodel</string></dict></plist>".utf8).write(to: marker)
        try Data("<model><entity name=\"A\"/></model>".utf8).write(to: contents)
        #expect(try CodeModelReader.read(folder.path).entities.map(\.name) == ["A"])
        // A source file that is scanned for its properties.
        let source = folder.appendingPathComponent("Source.swift")
        try Data(Array("let a = 1\nlet b = \"".utf8) + [0xC3] + Array("\"\n".utf8)).write(to: source)
        #expect(PluginRun.run(["Module", "Heartwood", folder.appendingPathComponent("out.swift").path, source.path]) == 1)
    }
}
