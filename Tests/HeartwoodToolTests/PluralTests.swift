import Foundation
import Testing

/// The tool counts one thing in the singular.
@Suite struct PluralTests {
    @Test
    func `One entity, one row, one record and one file are no plurals`() throws {
        try CoreDataStores.withFolder { folder in
            func path(_ name: String) -> String { folder.appendingPathComponent(name).path }
            let model = folder.appendingPathComponent("M.xcdatamodel")
            try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
            try Data(#"""
                <model type="com.apple.IDECoreDataModeler.DataModel"><entity name="A" representedClassName="A" codeGenerationType="class">
                <attribute name="n" optional="YES" attributeType="String"/>
                <relationship name="r" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="A"/>
                <uniquenessConstraints><uniquenessConstraint><constraint value="n"/></uniquenessConstraint></uniquenessConstraints></entity></model>
                """#.utf8).write(to: model.appendingPathComponent("contents"))
            let commands = [
                ["import", "S", "--model", "M.xcdatamodel", "--entity", "A", "--key", "n", "-"], ["model", "M.xcdatamodel"], ["model", "S"], ["verify", "S"],
                ["inspect", "S"], ["log", "S"], ["query", "S", "A", "--explain", "--where", "n == 'a'"], ["compact", "S", "--to", "T"], ["compact", "S"],
                ["salvage", "S", "-o", "U"], ["export", "S", "--format", "sqlite", "-o", "S.sqlite"], ["inspect", "S.sqlite"], ["verify", "S.sqlite"],
                ["convert", "S.sqlite", "-o", "V"], ["convert", "S.sqlite", "--dry-run"], ["backup", "S", "B"], ["backup", "list", "B"],
                ["backup", "status", "S", "B"], ["backup", "verify", "B"], ["backup", "prune", "B", "--keep-last", "1"], ["backup", "merge", "B"],
                ["restore", "B", "-o", "W"], ["migrate", "S", "--to", "M.xcdatamodel"], ["cherry-pick", "S", "--only", "A", "--into", "T"],
                ["diff", "S", "T"], ["generate", "M.xcdatamodel", "-o", "G"], ["compile", "M.xcdatamodel", "-o", "C"],
            ]
            let files = ["S", "T", "U", "V", "W", "B", "G", "C", "S.sqlite", "M.xcdatamodel"]
            for command in commands {
                let result = try ToolProcess.runWords(command.map { files.contains($0) ? path($0) : $0 }, input: "{\"n\":\"a\",\"r\":\"a\"}\n")
                #expect(result.status == 0, "\(command): \(result.error)")
                let text = result.output.replacing(folder.path, with: "")
                let found = text.ranges(of: /(?:^|[^\d.,:-])1 (?:more |index |large )?(?!is|was|has|bytes)[a-z]+s\b/).map { String(text[$0]) }
                #expect(found.isEmpty, "\(command): \(found) in \(text)")
            }
        }
    }
}
