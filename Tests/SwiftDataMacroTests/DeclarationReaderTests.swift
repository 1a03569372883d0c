import HeartwoodSwiftText
import Testing

@Suite struct DeclarationReaderTests {
    private func type(_ source: String) throws -> (SwiftType, SwiftText) {
        let text = SwiftText(source)
        var reader = DeclarationReader(text)
        let type = reader.type()
        return (try #require(type), text)
    }

    /// Each stored or computed variable as `name: type = value`, with a mark for its accessors.
    private func variables(_ members: String) throws -> [String] {
        let (type, text) = try type("class A {\n\(members)\n}")
        return type.members.compactMap { member in
            guard case .property(let property) = member else { return nil }
            let accessors: String
            switch property.accessors {
            case .none: accessors = ""
            case .computed: accessors = " {}"
            case .observers(let observers): accessors = " {\(observers.map { ($0.isBefore ? "will" : "did") + ($0.parameter ?? "") }.joined(separator: " "))}"
            }
            return property.name + (property.type.map { ": " + text.string($0) } ?? "") + (property.initial.map { " = " + text.string($0) } ?? "") + accessors
        }
    }

    @Test
    func `Types and values end where Swift ends them`() throws {
        #expect(try variables("var a: B?\nvar c = d\nlet e: [String: Int] = [\"a, b\": 1]") == ["a: B?", "c = d", "e: [String: Int] = [\"a, b\": 1]"])
        #expect(try variables("var a: Dictionary<String, [Int]> = .init()\nvar b = 1") == ["a: Dictionary<String, [Int]> = .init()", "b = 1"])
        #expect(try variables("var a = Dictionary<String, Int>(), b = 2") == ["a = Dictionary<String, Int>()", "b = 2"])
        #expect(try variables("var a = 1 < 2, b = 3 > 2") == ["a = 1 < 2", "b = 3 > 2"])
        #expect(try variables("var a = b\n    .c()\n    .d\nvar e = 1 +\n 2\nvar f = g!\nvar h = x\n    ? y\n    : z") == [
            "a = b\n    .c()\n    .d", "e = 1 +\n 2", "f = g!", "h = x\n    ? y\n    : z",
        ])
        #expect(try variables("var a: (Int) -> Void = { $0 }\nvar b: Optional<\n Int>") == ["a: (Int) -> Void = { $0 }", "b: Optional<\n Int>"])
        #expect(try variables("var a = if x { 1 } else { 2 }\nvar b = f { $0 }\nvar c: Int; var d = 1; let e = 2") == [
            "a = if x { 1 } else { 2 }", "b = f { $0 }", "c: Int", "d = 1", "e = 2",
        ])
        #expect(try variables("var a: Int // comment }\nvar b = /* = 1 */ 2 // , c") == ["a: Int", "b = 2"])
        #expect(try variables("var a = \"\"\"\n  } x\n  \"\"\"\nvar b = /}/") == ["a = \"\"\"\n  } x\n  \"\"\"", "b = /}/"])
        #expect(try variables("var a: any B & C\nvar b: Outer.Inner<D.E>?\nvar c: @Sendable () -> Void") == [
            "a: any B & C", "b: Outer.Inner<D.E>?", "c: @Sendable () -> Void",
        ])
    }

    @Test
    func `Accessors are told apart`() throws {
        #expect(try variables("var a: Int { 1 }\nvar b: Int { get { 1 } set {} }\nvar c = 1 { didSet {} }\nvar d: Int { willSet(n) {} didSet {} }") == [
            "a: Int {}", "b: Int {}", "c = 1 {did}", "d: Int {willn did}",
        ])
        #expect(try variables("var a = 1\n{ didSet {} }\nvar b = f\n{ $0 }\nvar c = g() { didSet {} }") == ["a = 1 {did}", "b = f\n{ $0 }", "c = g() {did}"])
    }

    @Test
    func `A declaration has several variables, patterns and names in backticks`() throws {
        #expect(try variables("var a = 1, b: String?\nvar c, d: Int\nlet (e, f) = (1, 2)\nvar `class`: Int\nvar `two words` = 1") == [
            "a = 1", "b: String?", "c: Int", "d: Int", "(e, f) = (1, 2)", "`class`: Int", "`two words` = 1",
        ])
        let (type, _) = try type("class A { var a = 1, b = 2; var c = 3 }")
        #expect(type.members.map { if case .property(let property) = $0 { property.siblings } else { 0 } } == [2, 2, 1])
    }

    @Test
    func `Attributes and modifiers of any form belong to what follows`() throws {
        let (type, text) = try type(
            """
            /// A class.
            @Model @available(iOS 17, *) public final class A: B<C, D>, E where F == G {
                @Attribute(.unique, // a comment )
                    originalName: "x)") private(set) public
                var a: Int
                @SwiftData.Transient nonisolated(unsafe) static var b = 1
                class var c: Int { 1 }
                override class func d() {}
                class Inner { var hidden = 1 }
            }
            """)
        #expect(type.name == "A" && type.keyword == "class" && type.inherited == ["B<C, D>", "E"] && type.has("final"))
        #expect(type.attributes.map(\.name) == ["Model", "available"])
        let properties = type.members.compactMap { if case .property(let property) = $0 { property } else { nil } }
        #expect(properties.map(\.name) == ["a", "b", "c"])
        #expect(properties[0].attributes[0].arguments.map(text.string)?.hasSuffix("originalName: \"x)\"") == true)
        #expect(properties[0].modifiers.map { $0.word + ($0.argument ?? "") } == ["privateset", "public"])
        #expect(properties[1].attributes[0].lastName == "Transient" && properties[1].isStatic && properties[2].isStatic)
    }

    @Test
    func `Functions, initializers, nested types and macros are members, and their insides are not`() throws {
        let (type, text) = try type(
            """
            class A<T: B> {
                #Index<A>([\\.a], [\\.b])
                func f<U>(_ x: U = { var y = 1 }()) -> [U] where U: C { var z = 1; return [] }
                convenience init?(x: Int = 1) throws { var w = 1 }
                subscript(i: Int) -> Int { get { 1 } set {} }
                deinit { var v = 1 }
                enum E { case a, b; var u: Int { 1 } }
                typealias G = Dictionary<Int, Int>
                struct S { init() {} }
                var last: Int
            }
            """)
        #expect(type.generics.map(text.string) == "<T: B>")
        let kinds = type.members.map { member in
            switch member {
            case .property(let property): property.name
            case .initializer: "init"
            case .freestanding(let macro): "#\(macro.name)\(macro.generics.map(text.string) ?? "")(\(macro.arguments.map(text.string) ?? ""))"
            case .conditional: "if"
            case .other: "type"
            }
        }
        #expect(kinds == ["#Index<A>([\\.a], [\\.b])", "init", "type", "type", "last"])
    }

    @Test
    func `Clauses of #if keep their members and conditions`() throws {
        let (type, _) = try type(
            """
            class A {
                #if os(Linux) && (DEBUG ||
                    TEST) // comment
                var a = 1
                    #if X
                    var b: Int?
                    #endif
                #elseif canImport(B)
                @C
                #else
                var d: Int { 1 }
                #endif
                var e = 1
            }
            """)
        guard case .conditional(let conditional) = try #require(type.members.first) else { Issue.record("no #if"); return }
        #expect(conditional.clauses.map(\.directive) == ["#if os(Linux) && (DEBUG ||\n        TEST)", "#elseif canImport(B)", "#else"])
        #expect(conditional.clauses.map(\.members.count) == [2, 0, 1] && conditional.hasElse)
        #expect(conditional.clauses[1].attribute?.name == "C")
        #expect(type.members.count == 2)
    }

    @Test(arguments: ["class", "class A", "class A {", "class A { var", "class A { var a:", "class A { var a = ", "class A { @", "class A { #if", "class A { #if X\n}",
        "class A: {", "class A<", "class A { func", "class A { init(", "class A { var a { didSet", "class A { typealias B", "class A { #Index<", "}}}", "@(", "class A { #else }"])
    func `A class that ends too early is read as far as it goes`(_ source: String) {
        var reader = DeclarationReader(SwiftText(source))
        _ = reader.type()
        var member = DeclarationReader(SwiftText(String(source.drop { $0 != "{" }.dropFirst())))
        _ = member.properties()
    }

    @Test
    func `The keyword is read from the head of the text`() {
        func keyword(_ source: String) -> String? { DeclarationReader.keyword(of: Array(source.utf8)) }
        #expect(keyword("/* struct */ @A(class: 1) public final class B { struct C {} }") == "class")
        #expect(keyword("extension A { class B {} }") == "extension")
        #expect(keyword("{ class A }") == nil)
    }
}
