import Foundation
import Testing

@testable import HeartwoodModelCode

/// Text of a model file that becomes Swift code must be a name or a type, or it is refused.
@Suite struct HostileModelTests {
    private func read(_ text: String) throws -> CodeModel {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("contents-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(text.utf8).write(to: file)
        return try CodeModelReader.read(file.path)
    }

    @Test
    func `A class of a transformable attribute that is no Swift type is refused with its line`() throws {
        for hostile in [
            "X? { nil } } ; func f() { while true {} } ; extension X { var y: Z", "X&#10;}", "X/*", "X//", "&quot;X&quot;", "X Y", "X.", "[X", "X]",
            "1X", "X&lt;",
            "X&lt;Y", "X{", "[X:Y:Z]", "_", "X;", "`X`", "\\(X)", "X\u{202E}Y",
            String(repeating: "[", count: 500) + "X" + String(repeating: "]", count: 500),
        ] {
            let error = #expect(throws: CodeError.self, "\(hostile)") {
                try read(
                    "<model><entity name=\"A\" representedClassName=\"A\">\n<attribute name=\"t\" attributeType=\"Transformable\" "
                        + "customClassName=\"\(hostile)\"/></entity></model>")
            }
            let text = error?.description ?? ""
            #expect(text.contains(":2: attribute: the class") && !text.contains("\n") && text.count < 300, "\(text)")
        }
    }

    @Test
    func `Names of entities, classes and properties that are no identifiers are refused with their line`() throws {
        for hostile in ["A {}", "A&#10;", "A\u{200D}", "A:B", "A&quot;", "A\\(1)", "../A", "_", "A`", "A;B", ""] {
            for element in [
                "<entity name=\"\(hostile)\"/>", "<entity name=\"E\" representedClassName=\"\(hostile.isEmpty ? " " : hostile)\"/>",
                "<entity name=\"E\"><attribute name=\"\(hostile)\"/></entity>",
                "<entity name=\"E\"><relationship name=\"\(hostile)\" destinationEntity=\"E\"/></entity>",
                "<entity name=\"E\"><fetchedProperty name=\"\(hostile)\"/></entity>",
            ] {
                let error = #expect(throws: CodeError.self, "\(element)") { try read("<model>\n\(element)</model>") }
                #expect(error?.description.contains(":2: ") == true && error?.description.contains("\n") == false, "\(error?.description ?? "")")
            }
        }
    }

    @Test
    func `Keywords name classes and properties in backticks, and types with arguments come out as they are`() throws {
        let text = """
            <model>
            <entity name="Type" representedClassName=".Type" codeGenerationType="class">
              <attribute name="Type" attributeType="String"/><attribute name="Protocol" attributeType="Integer 64" usesScalarValueType="YES"/>
              <attribute name="self" attributeType="Date"/><attribute name="init" attributeType="Transformable" customClassName="[String: [Any]]"/>
              <attribute name="plain" attributeType="Transformable" customClassName="Set&lt;Swift.Int&gt;?"/>
              <attribute name="own" attributeType="Transformable" customClassName=".Protocol"/>
              <relationship name="class" destinationEntity="Protocol" maxCount="1"/>
              <relationship name="many" destinationEntity="Type" maxCount="0" ordered="YES"/>
            </entity>
            <entity name="Protocol" representedClassName="Models.Protocol" codeGenerationType="class">
              <attribute name="name" attributeType="String"/>
            </entity>
            <entity name="Below" representedClassName="class" codeGenerationType="class" parentEntity="Type">
              <relationship name="up" destinationEntity="Below" maxCount="1"/>
            </entity>
            </model>
            """
        let files = ClassWriter(try read(text), importing: "Heartwood").files()
        let code = files.map(\.text).joined()
        for line in [
            "public class `Type`: NSManagedObject {}", "public class `class`: `Type` {}", "public var `Type`: String? {",
            "public var own: `Protocol`? {",
            "public var `init`: [String: [Any]]? {", "public var plain: Set<Swift.Int>? {", "public var `class`: `Protocol`? {",
            "NSFetchRequest<`class`>(entityName: \"Below\")",
        ] { #expect(code.contains(line), "\(line)") }
        guard SharedModels.canBeCompiled else { return }
        let errors = try SharedModels.compile(files)
        #expect(errors == nil)
    }
}
