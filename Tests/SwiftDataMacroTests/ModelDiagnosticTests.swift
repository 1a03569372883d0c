@testable import HeartwoodSwiftDataExpansions
import Testing

@Suite struct ModelDiagnosticTests {
    @Test
    func `Only classes with an initializer and without type parameters are models`() throws {
        #expect(try Request.faults(" // a\n@Model struct A {}") == ["'@Model' cannot be applied to struct type 'A' @ @Model struct A {}"])
        #expect(try Request.faults("@Model actor A {}") == ["'@Model' cannot be applied to actor type 'A' @ @Model actor A {}"])
        #expect(try Request.faults("@Model class A {}") == ["@Model requires an initializer be provided for 'A' @ @Model class A {}"])
        #expect(try Request.faults("@Model class A<T> { init() {} }") == [
            "'@Model' cannot be applied to generic class 'A': an entity has one class @ @Model class A<T> { init() {} }"
        ])
        #expect(try Request.faults("let a = 1") == ["@Model requires a class @ let a = 1"])
    }

    @Test(arguments: [
        ("@Transient var a: Int", "@Transient requires non-optional property 'a' to have a default value"),
        ("var description: String", "A stored property cannot be named 'description'"),
        ("var a = .now", "A default value requires a fully qualified domain named value"),
        ("lazy var a = 1", "@Model cannot persist 'lazy' property 'a'. Remove 'lazy', or mark the property @Transient"),
        ("weak var a: A?", "@Model cannot persist 'weak' property 'a'. Remove 'weak', or mark the property @Transient"),
        ("unowned(unsafe) var a: A", "@Model cannot persist 'unowned' property 'a'. Remove 'unowned', or mark the property @Transient"),
        ("let (a, b) = (1, 2)", "@Model cannot persist a tuple pattern. Declare each variable of '(a, b)' by itself"),
        ("var a: Any?", "@Model cannot persist property 'a' of type 'Any?'. Give it a Codable type or a model, or mark it @Transient"),
        ("var a: [AnyObject]", "@Model cannot persist property 'a' of type '[AnyObject]'. Give it a Codable type or a model, or mark it @Transient"),
        ("var a: (() -> Void)?", "@Model cannot persist property 'a' of function type '(() -> Void)?'. Give it a Codable type or a model, "
            + "or mark it @Transient"),
        ("var a: (x: Int, y: Int)", "@Model cannot persist property 'a' of tuple type '(x: Int, y: Int)'. Give it a Codable type or a model, "
            + "or mark it @Transient"),
        ("var a: any P", "@Model cannot persist property 'a' of type 'any P', which is no one type. Give it a Codable type or a model, "
            + "or mark it @Transient"),
    ])
    func `A property that cannot be persisted is refused where it stands`(_ member: String, _ message: String) throws {
        #expect(try Request.faults("@Model class Ü {\n    init() {}\n    \(member)\n}") == ["\(message) @ \(member)"])
        #expect(try Request.attribute(member) == "", "no errors follow")
    }

    @Test(arguments: [
        "@Transient var a: Int?", "@Transient var a: Int { 1 }", "@Transient lazy var a = 1", "@Transient var a: Any?", "static var a: Any = 1",
        "var a: Any { 1 }", "var a: (Dictionary<Int, Int>)?", "var a: [Int: String]", "var a: Foo.Any2", "@Transient weak var a: A?",
        "private static let description = 1", "var description: String { \"\" }",
    ])
    func `What the class keeps to itself is not refused`(_ member: String) throws {
        #expect(try Request.faults("@Model class A {\n    init() {}\n    \(member)\n}") == [])
    }

    @Test
    func `Variables of one declaration are refused, each by name`() throws {
        #expect(try Request.faults("@Model class A {\ninit() {}\nvar a: Int, b: Int\n}") == [
            "@Model persists one variable of a declaration. Declare 'a' in a 'var' of its own @ var a: Int, b: Int",
            "@Model persists one variable of a declaration. Declare 'b' in a 'var' of its own @ var a: Int, b: Int",
        ])
    }

    @Test
    func `An attribute in a clause of #if is refused without its property`() throws {
        #expect(try Request.faults("@Model class A {\ninit() {}\n#if X\n@Attribute(.unique)\n#endif\nvar a: Int\n}") == [
            "@Model cannot read '@Attribute' in an '#if' without its property. Write the property in each clause @ @Attribute(.unique)"
        ])
    }
}
