@testable import HeartwoodSwiftDataExpansions
import Testing

@Suite struct ModelExpansionTests {
    @Test
    func `A model gets its backing data, its schema and its initializer`() throws {
        let source = try Request.model(
            """
            /// A book.
            @Model final class Book {
                @Attribute(.unique) var title: String
                var status: Status = .active
                var note: String? = nil
                @Transient var count = 0
                init(title: String) { self.title = title }
            }
            """)
        #expect(source == """
            @HeartwoodSwiftData.Transient private let _$backingData = HeartwoodSwiftData.DefaultBackingData<Book>()

            public var persistentBackingData: any HeartwoodSwiftData.BackingData<Book> {
                get { _$backingData }
                set { _$backingData.adopt(newValue) }
            }

            public class var schemaMetadata: [HeartwoodSwiftData.Schema.PropertyMetadata] {
                var properties: [HeartwoodSwiftData.Schema.PropertyMetadata] = []
                properties.append(HeartwoodSwiftData.Schema.PropertyMetadata(name: "title", keypath: \\Book.title, defaultValue: nil, \
            metadata: HeartwoodSwiftData.Schema.Attribute(.unique)))
                properties.append(HeartwoodSwiftData.Schema.PropertyMetadata(name: "status", keypath: \\Book.status, \
            defaultValue: (.active as Status), metadata: nil))
                properties.append(HeartwoodSwiftData.Schema.PropertyMetadata(name: "note", keypath: \\Book.note, \
            defaultValue: (nil as String?), metadata: nil))
                return properties
            }

            public init(backingData: any HeartwoodSwiftData.BackingData<Book>) {
                _title = _SwiftDataNoType()
                _status = _SwiftDataNoType()
                _note = _SwiftDataNoType()
                _$backingData.adopt(backingData)
            }

            public func _$storages() -> [HeartwoodSwiftData.ModelStorage] { [_$backingData] }

            @HeartwoodSwiftData.Transient private var _$observationRegistrar: Observation.ObservationRegistrar { _$backingData.observationRegistrar }

            internal nonisolated func access<_M>(keyPath: KeyPath<Book, _M>) {
                _$backingData.access(self, keyPath)
            }

            internal nonisolated func withMutation<_M, _MR>(keyPath: KeyPath<Book, _M>, _ mutation: () throws -> _MR) rethrows -> _MR {
                try _$backingData.withMutation(of: self, keyPath, mutation)
            }

            struct _SwiftDataNoType {}

            private enum _$Position {
                @inline(__always) static var _title: Int { 0 }
                @inline(__always) static var _status: Int { 1 }
                @inline(__always) static var _note: Int { 2 }
            }
            """)
    }

    @Test
    func `A subclass adds its own level to its base's`() throws {
        let source = try Request.model("@Model class Poet: Author, Named { var form: String; init() {} }", conformances: nil)
        #expect(source.lines(with: "schemaMetadata") == [
            "public override class var schemaMetadata: [HeartwoodSwiftData.Schema.PropertyMetadata] {",
            "var properties: [HeartwoodSwiftData.Schema.PropertyMetadata] = super.schemaMetadata",
        ])
        #expect(source.contains("""
            required public init(backingData: any HeartwoodSwiftData.BackingData<Author.Root>) {
                _form = _SwiftDataNoType()
                super.init(backingData: backingData)
                _$backingData.adopt(backingData)
            }
            """))
        #expect(source.contains("public override func _$storages() -> [HeartwoodSwiftData.ModelStorage] { super._$storages() + [_$backingData] }"))
        #expect(!source.contains("persistentBackingData"))
    }

    @Test
    func `A subclass without properties changes no list, so that the compiler does not warn`() throws {
        let source = try Request.model("@Model class Poet: Author { init() {} }", conformances: nil)
        #expect(source.contains("let properties: [HeartwoodSwiftData.Schema.PropertyMetadata] = super.schemaMetadata"))
        #expect(!source.contains("properties.append"))
    }

    @Test
    func `An open class can be inherited from, and a class that is not final requires its initializer`() throws {
        let source = try Request.model("@Model open class Author { public init() {} }")
        #expect(source.contains("open class var schemaMetadata:") && source.contains("open func _$storages()"))
        #expect(source.contains("required public init(backingData:"))
    }

    @Test
    func `Positions and metadata are right in each clause of #if`() throws {
        let source = try Request.model(
            """
            @Model class A {
                var a: Int
                #if DEBUG
                var b: Int
                var c: Int
                #elseif TEST
                func f() {}
                #endif
                var d: Int
                #if X
                func g() {}
                #endif
                init() {}
            }
            """)
        let start = try #require(source.range(of: "private enum _$Position"))
        #expect(String(source[start.lowerBound...]) == """
            private enum _$Position {
                @inline(__always) static var _a: Int { 0 }
            #if DEBUG
                @inline(__always) static var _b: Int { 1 }
                @inline(__always) static var _c: Int { 2 }
                @inline(__always) static var _$end1: Int { 3 }
            #elseif TEST
                @inline(__always) static var _$end1: Int { 1 }
            #else
                @inline(__always) static var _$end1: Int { 1 }
            #endif
                @inline(__always) static var _d: Int { _$end1 + 0 }
            }
            """)
        #expect(source.lines(with: "#") == [
            "#if DEBUG", "#elseif TEST", "#endif", "#if DEBUG", "#elseif TEST", "#endif", "#if DEBUG", "#elseif TEST", "#else", "#endif",
        ])
    }

    @Test
    func `Constraints come after all properties, with the model where none is written`() throws {
        let source = try Request.model("@Model class A {\n#Index<A>([\\.a], [\\.a, \\.b])\n#Unique([\\A.a])\nvar a: Int\ninit() {} }")
        #expect(source.lines(with: "properties.append").map { String($0.dropFirst("properties.append(HeartwoodSwiftData.Schema.PropertyMetadata(".count)) } == [
            "name: \"a\", keypath: \\A.a, defaultValue: nil, metadata: nil))",
            "name: \"SwiftData.Schema.Index\", keypath: \\HeartwoodSwiftData.Schema.encodingVersion, defaultValue: nil, "
                + "metadata: HeartwoodSwiftData.Schema.Index<A>([\\.a], [\\.a, \\.b])))",
            "name: \"SwiftData.Schema.Unique\", keypath: \\HeartwoodSwiftData.Schema.encodingVersion, defaultValue: nil, "
                + "metadata: HeartwoodSwiftData.Schema.Unique<A>([\\A.a])))",
        ])
    }

    @Test
    func `Arguments and values are copied as they are written`() throws {
        let source = try Request.model(
            """
            @Model class A {
                @Relationship(deleteRule: .cascade, // all
                    inverse: \\B.a) var bs: [B] = []
                @SwiftData.Attribute var `class` = "x" // no type
                var unwrapped: Int! = 1
                init() {}
            }
            """)
        #expect(source.contains("defaultValue: ([] as [B]), metadata: HeartwoodSwiftData.Schema.Relationship(deleteRule: .cascade, // all\n        inverse: \\B.a)))"))
        #expect(source.contains("name: \"class\", keypath: \\A.`class`, defaultValue: \"x\", metadata: HeartwoodSwiftData.Schema.Attribute()"))
        #expect(source.contains("defaultValue: (1 as Int?)"))
    }

    @Test
    func `Extensions state what the class does not have yet`() throws {
        func extensions(_ conformances: String?) throws -> String? {
            try Request(
                macro: "PersistentModelMacro", role: "extension", declaration: "@Model class Book {}", conformances: conformances, extendedType: "Outer.Book"
            ).answer().source
        }
        let message = "PersistentModels are not Sendable, consider utilizing a ModelActor or use Book's persistentModelID instead"
        #expect(try extensions("PersistentModel, Observable, Sendable") == """
            extension Outer.Book: HeartwoodSwiftData.PersistentModel {}
            extension Outer.Book: Observation.Observable {}
            @available(swift, deprecated: 5.9, message: "\(message)")
            @available(*, unavailable, message: "\(message)")
            extension Outer.Book: Sendable {}
            """)
        #expect(try extensions("PersistentModel") == "extension Outer.Book: HeartwoodSwiftData.PersistentModel {}")
        #expect(try extensions(nil) == "")
    }

    @Test
    func `An actor gets its executor and its container`() throws {
        let members = try Request(macro: "PersistentModelActorMacro", role: "member", declaration: "@ModelActor actor A {}").answer()
        #expect(members.source?.contains("init(modelContainer: HeartwoodSwiftData.ModelContainer)") == true)
        let conformance = try Request(
            macro: "PersistentModelActorMacro", role: "extension", declaration: "@ModelActor actor A {}", conformances: "ModelActor", extendedType: "A"
        ).answer()
        #expect(conformance.source == "extension A: HeartwoodSwiftData.ModelActor {}")
    }

    @Test(arguments: ["public ", "package ", ""])
    func `An actor's executor, container and initializer are as visible as the actor`(access: String) throws {
        let members = try Request(macro: "PersistentModelActorMacro", role: "member", declaration: "@ModelActor \(access)actor A {}").answer()
        let lines = members.source?.split(separator: "\n").filter { $0.hasPrefix("\(access)nonisolated let ") || $0.hasPrefix("\(access)init(") }
        #expect(lines?.count == 3)
    }
}

extension String {
    fileprivate func range(of part: String) -> Range<String.Index>? { firstRange(of: part) }
}
