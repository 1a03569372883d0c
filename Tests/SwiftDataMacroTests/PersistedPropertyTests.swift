@testable import HeartwoodSwiftDataExpansions
import Testing

@Suite struct PersistedPropertyTests {
    @Test
    func `Stored properties are persisted, and the others are the class's own`() throws {
        let plain = "@HeartwoodSwiftData._PersistedProperty"
        #expect(try Request.attribute("var a: Int") == plain)
        #expect(try Request.attribute("@Attribute(.unique) private(set) var a = 1") == plain)
        #expect(try Request.attribute("var a = 1 { didSet {} }") == plain)
        #expect(try Request.attribute("@Attribute(.transformable(by: \"T\")) var a: T?") == "@HeartwoodSwiftData._TransformablePersistedProperty")
        #expect(try Request.attribute("@Attribute(Schema.Attribute.Option.transformable(by: T.self)) var a: T?")
            == "@HeartwoodSwiftData._TransformablePersistedProperty")
        for member in [
            "static var a = 1", "class var a: Int { 1 }", "var a: Int { 1 }", "@Transient var a = 1", "@SwiftData.Transient lazy var a = 1", "func a() {}",
            "init() {}", "@Transient private var _$backingData = 1", "@_PersistedProperty var a: Int", "lazy var a = 1", "struct A { var b = 1 }",
        ] { #expect(try Request.attribute(member) == "", "\(member)") }
        #expect(try Request.attribute("var a: Int", parent: "@Model struct A {}") == "")
    }

    @Test
    func `Accessors reach the value by its position`() throws {
        #expect(try Request.accessors("@Attribute(.unique) var title: String = \"\" // text") == """
            {
                @storageRestrictions(accesses: _$backingData, initializes: _title)
                init(initialValue) {
                    _$backingData.initialize(initialValue, at: _$Position._title)
                    _title = _SwiftDataNoType()
                }
                get { _$backingData.value(of: self, \\.title, at: _$Position._title) }
                set { _$backingData.setValue(newValue, of: self, \\.title, at: _$Position._title) }
            }
            """)
        let transformable = try #require(try Request.accessors("var `my color`: C?", macro: "TransformablePersistedPropertyMacro"))
        #expect(transformable.contains("_$backingData.initializeTransformable(initialValue, at: _$Position.`_my color`)"))
        #expect(transformable.contains("_$backingData.transformableValue(of: self, \\.`my color`, at: _$Position.`_my color`)"))
        #expect(transformable.contains("_$backingData.setTransformableValue(newValue, of: self"))
        #expect(try Request.accessors("let a: Int")?.contains("set {") == false)
    }

    @Test
    func `Observers run in the setter, and not for what they set themselves`() throws {
        let source = try #require(try Request.accessors("var a: Int = 1 { willSet(new) { f(new) } didSet { if a == 2 { return }; a = oldValue } }"))
        let start = try #require(source.firstRange(of: "    set {"))
        #expect(String(source[start.lowerBound...]) == """
                set {
                    guard !_$observed.contains(_$Position._a) else {
                        _$backingData.setValue(newValue, of: self, \\.a, at: _$Position._a)
                        return
                    }
                    _$observed.append(_$Position._a)
                    defer { _$observed.removeAll { $0 == _$Position._a } }
                    do {
                        let new = newValue
                        _ = new
                        func _$observer() { f(new) 
                        }
                        _$observer()
                    }
                    let _$oldValue = _$backingData.value(of: self, \\.a, at: _$Position._a)
                    _$backingData.setValue(newValue, of: self, \\.a, at: _$Position._a)
                    do {
                        let oldValue = _$oldValue
                        _ = oldValue
                        func _$observer() { if a == 2 { return }; a = oldValue 
                        }
                        _$observer()
                    }
                }
            }
            """)
        #expect(try Request.accessors("var a = 1 { didSet { f() } }")?.contains("_$oldValue") == false, "the old value is not read for nothing")
        #expect(try Request.model("@Model class A { var a = 1 { didSet {} }; init() {} }").contains("var _$observed: [Int] = []"))
    }

    @Test
    func `The mark is optional where the property is, and set where it has a value`() throws {
        let head = "@HeartwoodSwiftData.Transient private var "
        #expect(try Request.peer("var a: Int") == head + "_a: _SwiftDataNoType")
        #expect(try Request.peer("var a: Int?") == head + "_a: _SwiftDataNoType?")
        #expect(try Request.peer("var a: Int!") == head + "_a: _SwiftDataNoType!")
        #expect(try Request.peer("var a: Int? = 1") == head + "_a: _SwiftDataNoType? = _SwiftDataNoType()")
        #expect(try Request.peer("var `in` = 1") == head + "_in: _SwiftDataNoType = _SwiftDataNoType()")
    }
}
