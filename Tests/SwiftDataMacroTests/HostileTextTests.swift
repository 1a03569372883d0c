@testable import HeartwoodSwiftDataExpansions
import HeartwoodSwiftText
import Testing

@Suite struct HostileTextTests {
    private static let model = """
        @Model public final class A: B<C> {
            #Index<A>([\\.a], [\\.b])
            @Attribute(.unique, originalName: "x\\(1)") var a: [String: Int] = ["a": 1], b = 2
            var c: Int? { willSet { f() } didSet(old) { g(old) } }
            #if X
            @Relationship var d: (D)?
            #else
            let `e` = /a/
            #endif
            init<T>(x: T) where T: U { self.a = x < 2 ? [:] : [:] }
        }
        """

    /// Every role reads the text.
    private func expand(_ bytes: [UInt8]) {
        for (macro, role) in [
            ("PersistentModelMacro", "member"), ("PersistentModelMacro", "memberAttribute"), ("PersistentModelMacro", "extension"),
            ("PersistedPropertyMacro", "accessor"), ("PersistedPropertyMacro", "peer"), ("PersistentModelActorMacro", "member"),
        ] {
            let text = String(decoding: bytes, as: UTF8.self)
            let request = Request(macro: macro, role: role, declaration: text, parent: text, conformances: text, extendedType: text)
            #expect(Message(request.message).map { !Plugin.answer(to: $0).isEmpty } == true)
        }
    }

    @Test
    func `A class that ends at any byte is no trap`() {
        let bytes = Array(Self.model.utf8)
        for end in 0...bytes.count { expand(Array(bytes[..<end])) }
    }

    @Test
    func `A class that begins at any byte is no trap`() {
        let bytes = Array(Self.model.utf8)
        for start in 0...bytes.count { expand(Array(bytes[start...])) }
    }

    @Test(arguments: 0..<8)
    func `A class with exchanged bytes is no trap`(_ seed: UInt64) {
        var random = Steps(state: seed &+ 1)
        let signs = Array("{}()[]<>\"`#/@:=,;.?!\\ \n*".utf8) + [0, 0xFF]
        for _ in 0..<60 {
            var bytes = Array(Self.model.utf8)
            for _ in 0..<Int(random.next() % 6 + 1) { bytes[Int(random.next() % UInt64(bytes.count))] = signs[Int(random.next() % UInt64(signs.count))] }
            expand(bytes)
        }
    }

    private struct Steps: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 33
        }
    }

    @Test(arguments: ["(", "[", "{", "<", "\"\\(", "#if X\n", "/*", "#/", "@A(", "class A {", "A<", "`", "-> ", "var a = ", "\"", "#", "a < ", "&", "/a(", "didSet {"])
    func `Thousands of openings of one kind take little time and no stack`(_ opening: String) {
        let clock = ContinuousClock(), start = clock.now
        for head in ["class A { ", "class A { var a = ", "class A { var a: ", "@Model class A: ", "class A { var a = 1 { didSet { "] {
            expand(Array((head + String(repeating: opening, count: 1_000)).utf8))
        }
        #expect(clock.now - start < .seconds(30))
    }

    @Test
    func `The cost is linear in the length of the class`() throws {
        func time(_ count: Int) throws -> Duration {
            let members = (0..<count).map { "    @Attribute(.unique) var property\($0): [String: Int] = [\"a\": 1] // comment\n" }.joined()
            let message = Request(macro: "PersistentModelMacro", role: "member", declaration: "@Model class A {\n\(members)    init() {}\n}").message
            return try (0..<3).map { _ in
                try ContinuousClock().measure { _ = Plugin.answer(to: try #require(Message(message))) }
            }.min() ?? .zero
        }
        _ = try time(10)
        let (short, long) = (try time(200), try time(3_200))
        #expect(long < short * 48, "sixteen times as long: \(short), \(long)")
    }

    @Test
    func `A member's attribute costs little beside a long class`() throws {
        let parent = "@Model class A {\n" + String(repeating: "    var a: Int = 1 // \"comment\"\n", count: 20_000) + "}"
        let message = Request(macro: "PersistentModelMacro", role: "memberAttribute", declaration: "var a: Int", parent: parent).message
        let time = try ContinuousClock().measure { _ = Plugin.answer(to: try #require(Message(message))) }
        #expect(time < .milliseconds(500), "the class is passed over, not read: \(time)")
    }
}
