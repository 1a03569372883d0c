import Foundation
import Testing

@testable import ModelCode

struct MangledNameTests {
    /// Classes and types chosen for what mangling does with words, repetition, nesting and files.
    static let source = """
        import Foundation

        open class NSManagedObject: NSObject {}
        public class Category: NSManagedObject {
            @NSManaged public var name: String? /* @NSManaged var no: Int */
            @NSManaged public var parent: Category?
            @NSManaged var count: Int64
            @NSManaged var small: Int16, middle: Int32
            @NSManaged public private(set) var plain: Int
            @NSManaged public var date: Date
            @NSManaged public var categoryDate: Date?
            @NSManaged public var items: Set<Category>
            @NSManaged private var secretCategory: UUID?
            @NSManaged fileprivate var secret_Field: String
            @NSManaged public var number: NSNumber?
            @NSManaged public final var exact: NSDecimalNumber?
            @NSManaged public var strings: [String: String]
            @NSManaged public var Category: [String: Any]?
            let text = "@NSManaged var no: Int \\("}" + String(1)) {"
            func unrelated() { if true { _ = #"} "\\# "# } }
        }
        extension Category {
            @NSManaged public var categoryName: [String: Any]?
            @NSManaged
            public var tagsOfTags: [String]
            @NSManaged var http2URLForURL: URL?
            @NSManaged var categoryNameCategory: Optional<Data>
            @NSManaged var implied: String!
            @NSManaged var lists: [[Category]]?
            @NSManaged var App: Double
            @NSManaged var inner: Leaf.Inner?
        }
        final class Leaf: Category {
            @NSManaged var leafLeaf: NSSet?
            class Inner: NSManagedObject {
                @NSManaged var order: NSOrderedSet?
                @NSManaged var other: Inner?
                @NSManaged var flag: Bool, half: Float
            }
        }
        class App: NSManagedObject {
            @NSManaged var app: App?
            @NSManaged var seconds: TimeInterval
            @NSManaged var anything: AnyObject?
        }
        """

    #if !canImport(Darwin)
        @Test func thePredictedSymbolsAreThoseThatTheCompilerLeavesUndefined() throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("mangling-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let file = folder.appendingPathComponent("Source File.swift")
            try Data(Self.source.utf8).write(to: file)
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            let output = folder.appendingPathComponent("out.ll")
            process.arguments = ["swiftc", "-module-name", "App", "-parse-as-library", "-emit-ir", file.path, "-o", output.path]
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            let code = try String(contentsOf: output, encoding: .utf8)
            let undefined = code.split(separator: "\n").filter { $0.hasPrefix("declare") }.compactMap { line in
                line.firstMatch(of: /@"(\$s3App[^"]*v[gs])"/).map { String($0.1) }
            }
            let writer = ManagedAccessorWriter(module: "App", models: [], sources: [.init(path: file.path, text: Self.source)])
            #expect(writer.problems == [])
            let predicted = writer.text.matches(of: /_silgen_name\("([^"]*)"\)/).map { String($0.1) }
            #expect(Set(predicted) == Set(undefined))
            #expect(undefined.count >= 60)
        }
    #endif

    @Test func whatCannotBeServedIsReportedWithFileAndLine() throws {
        let model = try CodeModelReader.read(Reference.model)
        let source = """
            class Author: NSManagedObject {
                @NSManaged var name: Int64
                @NSManaged var nickname: String?
                @NSManaged var works: Set<Elsewhere>
                @NSManaged func addToWorks(_ value: Work)
            }
            extension Other { @NSManaged var x: String? }
            """
        let writer = ManagedAccessorWriter(module: "M", models: [model], sources: [.init(path: "A.swift", text: source)])
        let lines = writer.problems.map { $0.prefix(while: { $0 != " " }) }.sorted()
        #expect(lines == ["A.swift:2:", "A.swift:3:", "A.swift:4:", "A.swift:5:", "A.swift:7:"])
        #expect(writer.text == "")
    }
}
