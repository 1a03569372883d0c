import Foundation
import Testing

@testable import Heartwood

/// Validation in the classes of objects, and validation that a program calls.
@Suite struct ValidationHookTests {
    private func stack(_ kind: StoreKind) throws -> TestStack {
        try TestStack(kind, model: try CheckedModel.load())
    }

    @Test(arguments: StoreKind.allCases)
    func `A class validates beside the model`(kind: StoreKind) throws {
        let stack = try stack(kind)
        let one = stack.insert("Checked", ["name": "bad"]) as! Checked
        let error = #expect(throws: Checked.Refusal.self) { try stack.context.save() }
        #expect(error == Checked.Refusal(what: "bad"), "one failure is that error itself")
        #expect(one.asked == ["name", "age", "team"])
        one.setValue(-1, forKey: "age")
        let other = stack.insert("Checked", ["name": "much too long a name"])
        let errors = stack.failures()
        #expect(errors.count == 3)
        #expect(errors.compactMap { $0.userInfo[NSValidationKeyErrorKey] as? String } == ["age", "name"])
        #expect(errors.last?.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === other)
        #expect(try stack.fetch("Checked", in: stack.newContext()).isEmpty)
        one.setValue("good", forKey: "name")
        one.setValue(nil, forKey: "age")
        other.setValue(nil, forKey: "name")
        #expect(stack.failed() == ["1570 name"])
        #expect(stack.failures().first?.userInfo[NSValidationValueErrorKey] is NSNull)
    }

    @Test(arguments: StoreKind.allCases)
    func `A value that a class substitutes is saved`(kind: StoreKind) throws {
        let stack = try stack(kind)
        stack.insert("Checked", ["name": "  Ada "])
        try stack.context.save()
        #expect(try stack.fetch("Checked", in: stack.anew()).first?.value(forKey: "name") as? String == "Ada")
    }

    @Test(arguments: StoreKind.allCases)
    func `The model checks the value that a class's check has set`(kind: StoreKind) throws {
        let stack = try stack(kind)
        let one = stack.insert("Checked", ["name": "Ada", "age": 7]) as! Checked
        one.substitutes = ["age": NSNumber(value: -1)]
        #expect(stack.failures().compactMap { $0.userInfo[NSValidationKeyErrorKey] as? String } == ["age"])
        #expect(one.value(forKey: "age") as? Int == 7)
        one.substitutes = ["age": NSNumber(value: 8)]
        try stack.context.save()
        #expect(try stack.fetch("Checked", in: stack.anew()).first?.value(forKey: "age") as? Int == 8)
    }

    @Test(arguments: StoreKind.allCases)
    func `Each kind of save has its validation hook`(kind: StoreKind) throws {
        let stack = try stack(kind)
        let one = stack.insert("Checked", ["name": "one"]) as! Checked
        func refused() -> String? {
            do {
                try stack.context.save()
                return nil
            } catch { return (error as? Checked.Refusal)?.what }
        }
        one.refusesInsert = true
        #expect(refused() == "insert" && one.isInserted)
        one.refusesInsert = false
        #expect(refused() == nil)
        one.refusesUpdate = true
        one.setValue(1, forKey: "age")
        #expect(refused() == "update" && one.isUpdated)
        one.refusesUpdate = false
        #expect(refused() == nil)
        one.refusesDelete = true
        stack.context.delete(one)
        #expect(refused() == "delete" && one.isDeleted)
        one.refusesDelete = false
        #expect(refused() == nil)
        #expect(try stack.fetch("Checked").isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `Failures are caught by their names`(kind: StoreKind) throws {
        let stack = try stack(kind)
        stack.insert("Limits", ["text": "a"])
        do {
            try stack.context.save()
            Issue.record("it saved")
        } catch CocoaError.validationStringTooShort {
            // Expected.
        }
        stack.insert("Limits", ["text": "a"])
        do {
            try stack.context.save()
        } catch let error as CocoaError {
            #expect(error.code == .validationMultipleErrors)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `A program may validate before it sets`(kind: StoreKind) throws {
        let stack = try stack(kind)
        let one = stack.insert("Checked", ["name": "one"]), team = stack.insert("Team", [:]), limits = stack.insert("Limits", [:])
        func code(_ value: Any?, _ key: String, of object: NSManagedObject) -> Int {
            var value = value as AnyObject?
            do {
                try object.validateValue(&value, forKey: key)
                return 0
            } catch { return (error as NSError).code }
        }
        #expect(code("fine", "name", of: one) == 0)
        #expect(code(nil, "name", of: one) == NSValidationMissingMandatoryPropertyError)
        #expect(code(NSNull(), "name", of: one) == NSValidationMissingMandatoryPropertyError)
        #expect(code("much too long a name", "name", of: one) == NSValidationStringTooLongError)
        #expect(code(7, "name", of: one) == NSManagedObjectValidationError, "of another type")
        #expect(code(nil, "age", of: one) == 0 && code(NSNumber(value: -1), "age", of: one) == NSValidationNumberTooSmallError)
        #expect(code(0.4, "double", of: limits) == NSValidationNumberTooSmallError)
        #expect(code(NSSet(), "some", of: team) == 0)
        #expect(code(NSSet(object: one), "few", of: team) == NSValidationRelationshipLacksMinimumCountError)
        #expect(code("anything", "unheard of", of: one) == 0)
        #expect(one.value(forKey: "name") as? String == "one", "nothing is set")
        var trimmed: AnyObject? = NSString(string: " Ada")
        try one.validateValue(&trimmed, forKey: "name")
        #expect(trimmed as? String == "Ada")
        #if !canImport(ObjectiveC)
            var variable = NSString(string: " Eve") as AnyObject, nothing: NSObject?
            let pointer = AutoreleasingUnsafeMutablePointer<AnyObject?>(&variable)
            try one.validateValue(pointer, forKey: "name")
            #expect(pointer.pointee as? String == "Eve" && variable as? String == " Eve")
            let toNothing = AutoreleasingUnsafeMutablePointer<AnyObject?>(&nothing)
            #expect(throws: (any Error).self) { try one.validateValue(toNothing, forKey: "name") }
        #endif
        one.setValue("much too long a name", forKey: "name")
        one.setValue(-1, forKey: "age")
        let error = #expect(throws: (any Error).self) { try one.validateForInsert() } as? NSError
        #expect((error?.userInfo[NSDetailedErrorsKey] as? [NSError])?.count == 2)
    }
}
