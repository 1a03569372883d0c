import Foundation
import Testing

/// `heartwood verify` on stores of Core Data's: sound ones, and each fault that a script can make.
@Suite struct CoreDataVerifyTests {
    /// The findings in goldens that have faults on purpose.
    private static let faultyGoldens: [String: [String]] = [:]

    @Test("A sound store is said to be sound, and each fault of the others is named") func goldens() throws {
        for name in try CoreDataStores.goldens() {
            let result = try ToolProcess.run("verify", CoreDataStores.golden(name))
            let findings = result.output.split(separator: "\n").filter { $0.hasPrefix("corrupt: ") }.map { String($0.dropFirst(9)) }
            #expect(findings == Self.faultyGoldens[name] ?? [], "\(name): \(result.output)")
            #expect(result.status == (findings.isEmpty ? 0 : 1) && result.error.isEmpty, "\(name): \(result.error)")
            #expect(findings.isEmpty == result.output.contains("\nsound: ") || result.output.hasPrefix("sound: "), "\(name): \(result.output)")
        }
    }

    /// By description: the exit code, and parts of lines.
    private static let hostile: [String: (status: Int32, parts: [String])] = [:]

    @Test("Each damaged store of the maker has its findings", .enabled(if: CoreDataStores.canBeMade, CoreDataStores.needPython))
    func hostileStores() throws {
        try CoreDataStores.withMade { folder in
            for name in try CoreDataStores.names(in: folder) {
                let result = try ToolProcess.run("verify", folder.appendingPathComponent("\(name).sqlite").path)
                print("== \(name): \(result.status)\n\(result.output)\(result.error)")
            }
        }
    }
}
