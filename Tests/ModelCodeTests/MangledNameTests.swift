import Foundation
import HeartwoodTestSupport
import Testing

@testable import HeartwoodModelCode

struct MangledNameTests {
    /// Classes and types that cover the rules of mangling for words, repetition, nesting and files.
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
            func unrelated() { if true { _ = #"} " "# } }
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
        class Values: NSManagedObject {
            @NSManaged var ofAttributedString: AttributedString?
            @NSManaged var ofCalendar: Calendar?
            @NSManaged var ofDateComponents: DateComponents?
            @NSManaged var ofDateInterval: DateInterval?
            @NSManaged var ofIndexPath: IndexPath?
            @NSManaged var ofLocale: Locale?
            @NSManaged var ofTimeZone: TimeZone?
            @NSManaged var ofURLComponents: URLComponents?
            @NSManaged var ofCGFloat: CGFloat?
            @NSManaged var ofCGPoint: CGPoint?
            @NSManaged var ofCGRect: CGRect?
            @NSManaged var ofCGSize: CGSize?
            @NSManaged var ofCharacterSet: CharacterSet?
            @NSManaged var ofIndexSet: IndexSet?
            @NSManaged var ofNotification: Notification?
            @NSManaged var ofPersonNameComponents: PersonNameComponents?
            @NSManaged var ofNSMutableAttributedString: NSMutableAttributedString?
            @NSManaged var ofNSMutableIndexSet: NSMutableIndexSet?
            @NSManaged var ofNSMutableData: NSMutableData?
            @NSManaged var ofNSMutableString: NSMutableString?
            @NSManaged var ofNSCountedSet: NSCountedSet?
            @NSManaged var ofNSCalendar: NSCalendar?
            @NSManaged var ofNSDateComponents: NSDateComponents?
            @NSManaged var ofNSDateInterval: NSDateInterval?
            @NSManaged var ofNSError: NSError?
            @NSManaged var ofNSLocale: NSLocale?
            @NSManaged var ofNSNull: NSNull?
            @NSManaged var ofNSPersonNameComponents: NSPersonNameComponents?
            @NSManaged var ofNSTimeZone: NSTimeZone?
            @NSManaged var ofNSURLComponents: NSURLComponents?
            @NSManaged var ofNSValue: NSValue?
        }
        """

    #if !canImport(Darwin)
        @Test
        func `The predicted symbols are those that the compiler leaves undefined`() throws {
            let (undefined, predicted) = try Self.symbols(Self.source, models: [], ending: "v[gs]")
            #expect(predicted == undefined)
            #expect(undefined.count >= 120)
        }

        @Test
        func `The symbols of managed functions equal the compiler's`() throws {
            let source = """
                import Foundation

                open class NSManagedObject: NSObject {}
                class Work: NSManagedObject {}
                class Chapter: NSManagedObject {}
                public class Author: NSManagedObject { typealias Written = Work }
                extension Author {
                    @NSManaged func addToWorks(_ value: Work)
                    @NSManaged public func removeFromWorks(_ values: NSSet)
                    @NSManaged func addWorks(_ values: Set<Work>)
                    @NSManaged func removeWorksObject(_ value: Written)
                }
                class Book: Work {
                    @NSManaged func insertIntoChapters(_ value: Chapter, at idx: Int)
                    @NSManaged func removeFromChapters(at idx: Int)
                    @NSManaged func insertIntoChapters(_ values: [Chapter], at indexes: NSIndexSet)
                    @NSManaged func removeFromChapters(at indexes: NSIndexSet)
                    @NSManaged func replaceChapters(at idx: Int, with value: Chapter)
                    @NSManaged func replaceChapters(at indexes: NSIndexSet, with values: [Chapter])
                    @NSManaged func addToChapters(_ values: NSOrderedSet)
                    func call(_ c: Chapter, _ s: NSIndexSet, _ o: NSOrderedSet, _ a: Author) {
                        insertIntoChapters(c, at: 0); removeFromChapters(at: 0); insertIntoChapters([c], at: s); removeFromChapters(at: s)
                        replaceChapters(at: 0, with: c); replaceChapters(at: s, with: [c]); addToChapters(o)
                        a.addToWorks(self); a.removeFromWorks(NSSet()); a.addWorks([self]); a.removeWorksObject(self)
                    }
                }
                """
            let (undefined, predicted) = try Self.symbols(source, models: [try CodeModelReader.read(Reference.model)], ending: "F")
            #expect(predicted == undefined)
            #expect(undefined.count == 11)
        }

        /// The symbols that the compiler leaves undefined, and those that the writer predicts.
        private static func symbols(_ source: String, models: [CodeModel], ending: String) throws -> (Set<String>, Set<String>) {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("mangling-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let file = folder.appendingPathComponent("Source File.swift")
            try Data(source.utf8).write(to: file)
            let process = ChildProcess()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            let output = folder.appendingPathComponent("out.ll")
            process.arguments = ["swiftc", "-module-name", "App", "-parse-as-library", "-emit-ir", file.path, "-o", output.path]
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            let code = try String(contentsOf: output, encoding: .utf8)
            let wanted = try Regex("@\"(\\$s3App[^\"]*\(ending))\"", as: (Substring, Substring).self)
            let undefined = code.split(separator: "\n").filter { $0.hasPrefix("declare") }.compactMap { line in
                line.firstMatch(of: wanted).map { String($0.1) }
            }
            let writer = ManagedAccessorWriter(module: "App", models: models, sources: [.init(path: file.path, text: source)])
            #expect(writer.problems == [])
            return (Set(undefined), Set(writer.text.matches(of: /_silgen_name\("([^"]*)"\)/).map { String($0.1) }))
        }
    #endif

    @Test
    func `A declaration that cannot be served is reported with file and line`() throws {
        let model = try CodeModelReader.read(Reference.model)
        let source = """
            class Author: NSManagedObject {
                @NSManaged var name: Int64
                @NSManaged var nickname: String?
                @NSManaged var works: Set<Elsewhere>
                @NSManaged func addToShelves(_ value: Work)
            }
            extension Other { @NSManaged var x: String? }
            """
        let writer = ManagedAccessorWriter(module: "M", models: [model], sources: [.init(path: "A.swift", text: source)])
        let lines = writer.problems.map { $0.prefix(while: { $0 != " " }) }.sorted()
        #expect(lines == ["A.swift:2:", "A.swift:4:", "A.swift:7:"])
        // Core Data finds these at run time or not at all: code that does not use them builds.
        #expect(writer.warnings.map { $0.prefix(while: { $0 != " " }) }.sorted() == ["A.swift:3:", "A.swift:5:"])
        #expect(writer.text.contains("value(forKey: \"nickname\")") && writer.text.contains("addManagedObject(value"))
    }

    @Test(arguments: [
        "class Author: NSManagedObject { let r = /\\{/\n @NSManaged var name: String? }",
        "class Author: NSManagedObject { let r = list.first(where: /}\"\\//)\n @NSManaged var name: String? }",
        "class Author: NSManagedObject { let r = #/{/#, s = ##/\n } /# \n/##\n @NSManaged var name: String? }",
        "class Author: NSManagedObject { var r: Int { (a) /b }\n var s: Int { c / (d) /e }\n @NSManaged var name: String? }",
        "class Author: NSManagedObject {}\nextension M.Author { @NSManaged var name: String? }",
    ])
    func `The scanner reads over regular expressions and modules`(source: String) throws {
        let model = try CodeModelReader.read(Reference.model)
        let writer = ManagedAccessorWriter(module: "M", models: [model], sources: [.init(path: "A.swift", text: source)])
        #expect(writer.problems == [] && writer.text.contains("managedGet_name"))
    }
}
