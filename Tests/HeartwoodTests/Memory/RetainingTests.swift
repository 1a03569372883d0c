import Testing

@testable import Heartwood

@Suite struct RetainingTests {
    @Test func aContextHoldsItsObjectsWhereItIsTold() throws {
        let stack = try TestStack(.inMemory)
        for index in 0..<1500 { stack.insert("Tag", ["label": "\(index)"]) }
        try stack.context.save()
        let context = stack.newContext()
        #expect(!context.retainsRegisteredObjects)
        context.retainsRegisteredObjects = true
        _ = try stack.fetch("Tag", in: context)
        context.refreshAllObjects()
        _ = try stack.fetch("Tag", "label == '1'", in: context)
        #expect(context.registeredObjects.count == 1500)
        weak let tag = context.registeredObjects.first
        context.reset()
        #expect(tag == nil && context.retainsRegisteredObjects && context.registeredObjects.isEmpty)
        _ = try stack.fetch("Tag", in: context)
        _ = try stack.fetch("Tag", "label == '1'", in: context)
        #expect(context.registeredObjects.count == 1500)
        context.retainsRegisteredObjects = false
        _ = try stack.fetch("Tag", "label == '1'", in: context)
        #expect(context.registeredObjects.count <= 1)
    }
}
