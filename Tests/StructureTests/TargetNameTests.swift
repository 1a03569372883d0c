import Foundation
import Testing

/// The names of targets are one space over a program and all packages that it uses, so a common one refuses the user's own.
@Suite struct TargetNameTests {
    private static let manifest = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Package.swift")

    /// Modules that users import under these names.
    private static let imported = ["CoreData", "RecordLog", "RecordLogRows", "SwiftData"]

    @Test
    func `A target that users do not import has the product's name before its own`() throws {
        let text = try String(contentsOf: Self.manifest, encoding: .utf8)
        let declarations = text.matches(of: /\.(?:target|executableTarget|macro|plugin)\(\s*name: "([^"]+)"/).map { String($0.output.1) }
        #expect(declarations.count > 12, "the manifest is there")
        for name in declarations where !Self.imported.contains(name) {
            #expect(name.hasPrefix("Heartwood") || name.hasPrefix("heartwood-"), "\(name)")
        }
    }
}
