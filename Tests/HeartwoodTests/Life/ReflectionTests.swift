import Testing

@testable import Heartwood

/// Mirrors of managed objects, as `dump` and the failed expectations of a test make them.
@Suite struct ReflectionTests {
    @Test(arguments: [false, true])
    func `An object is shown by its entity and its ID, also when its context and its store are gone`(_ isSaved: Bool) throws {
        var stack: TestStack? = try TestStack(.inMemory)
        let object = try #require(stack?.insert("Employee", ["email": "e@x", "age": 3]))
        if isSaved { try stack?.context.save() }
        stack = nil
        var text = ""
        dump(object, to: &text)
        #expect(text.contains("Employee") && text.contains("x-coredata://"))
        #expect(Mirror(reflecting: object).children.map(\.label) == ["entity", "objectID"])
        #expect(Mirror(reflecting: object).superclassMirror == nil)
    }
}
