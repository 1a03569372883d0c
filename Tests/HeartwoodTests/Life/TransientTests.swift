import Foundation
import Testing

@testable import Heartwood

/// Transient attributes: no store has their values.
@Suite struct TransientTests {
    private static func model() -> NSManagedObjectModel {
        let car = NSEntityDescription()
        car.name = "Car"
        let speed = TestStack.attribute("speed", .integer64AttributeType, default: 7), driver = TestStack.attribute("driver", .stringAttributeType)
        let note = TestStack.attribute("note", .stringAttributeType, default: "new")
        for attribute in [speed, driver, note] { attribute.isTransient = true }
        car.properties = [TestStack.attribute("name", .stringAttributeType), speed, driver, note]
        let model = NSManagedObjectModel()
        model.entities = [car]
        return model
    }

    private func values(_ car: NSManagedObject) -> [String?] { [(car.value(forKey: "speed") as? Int).map(String.init), car.text("driver"), car.text("note")] }

    @Test(arguments: StoreKind.allCases)
    func `A transient attribute that has no value reads its default`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: Self.model()), car = stack.insert("Car", ["name": "a"]), unset = ["7", nil, "new"]
        #expect(values(car) == unset)
        try stack.context.save()
        #expect(values(car) == unset)
        for (key, value) in [("speed", 50), ("driver", "Ann"), ("note", NSNull())] as [(String, Any)] {
            car.setValue(value is NSNull ? nil : value, forKey: key)
        }
        #expect(values(car) == ["50", "Ann", nil])
        try stack.context.save()
        #expect(values(car) == ["50", "Ann", nil], "a save keeps them")
        #expect(values(stack.anew().object(with: car.objectID)) == unset)
        stack.context.refresh(car, mergeChanges: true)
        #expect(values(car) == unset && !car.hasChanges)
        car.setValue(8, forKey: "speed")
        stack.context.rollback()
        #expect(values(car) == unset)
    }

    @Test(arguments: StoreKind.allCases)
    func `A child's transient values go to its parent with a save, and the parent's do not come to the child`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: Self.model()), child = stack.context.child(), grandchild = child.child()
        let mine = stack.insert("Car", ["name": "a", "speed": 20])
        #expect(values(child.own(mine)) == ["7", nil, "new"], "of an object that has no row")
        try stack.context.save()
        mine.setValue(30, forKey: "speed")
        #expect(values(child.own(mine)) == ["7", nil, "new"] && values(grandchild.own(mine)) == ["7", nil, "new"])
        let theirs = child.own(mine)
        theirs.setValue(50, forKey: "speed")
        try child.save()
        #expect(values(theirs)[0] == "50" && values(mine)[0] == "50" && values(grandchild.own(mine))[0] == "7")
        theirs.setValue(7, forKey: "speed")
        try child.save()
        #expect(values(mine)[0] == "7", "the default is a value too")
        mine.setValue(9, forKey: "speed")
        try stack.context.save()
        #expect(try stack.fetch("Car", in: grandchild).map { values($0)[0] } == ["7"])
        #expect(try stack.fetch("Car", "name == 'a'", in: stack.context.child()).map { values($0)[0] } == ["7"])
    }
}
