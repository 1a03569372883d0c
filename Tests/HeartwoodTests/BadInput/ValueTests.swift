import Foundation
import Testing

@_spi(GeneratedCode) @testable import Heartwood

/// Values that do not fit, or barely.
@Suite struct ValueTests {
    /// One object for each value, numbered by `int64`.
    private func everything(_ stack: TestStack, _ key: String, _ values: [Any]) {
        for (number, value) in values.enumerated() { stack.insert("Everything", [key: value, "int64": number]) }
    }

    /// In the order of their numbers: not every store has an order of its own.
    private func again(_ stack: TestStack, _ key: String) throws -> [Any?] {
        let byNumber = [NSSortDescriptor(key: "int64", ascending: true)]
        return try stack.fetch("Everything", sort: byNumber, in: stack.anew()).map { $0.value(forKey: key) }
    }

    /// The refusal's message; nil if the value is accepted.
    private func refusal(_ object: NSManagedObject, _ key: String, _ value: Any?) -> String? {
        do {
            try object.setValue(value, at: object.propertyIndex(key))
            return nil
        } catch { return error.message }
    }

    @Test(arguments: StoreKind.recordLogs)
    func `Each attribute type refuses values of the others`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let object = stack.insert("Everything", [:])
        let text = "text", number = NSNumber(value: 3), date = Date(), data = Data([1])
        let refused: [String: [Any]] = [
            "int16": [text, date, data, 70_000, NSNumber(value: 70_000), Double.nan], "int32": [text, Int64.max],
            "int64": [text, UInt64.max, 1e19],
            "double": [text, date, data], "float": [text, object], "decimal": [text, date, Double.infinity, 1e200],
            "string": [number, date, data, URL(fileURLWithPath: "/")], "bool": [text, date], "date": [text, number, data],
            "data": [text, number], "uuid": [text, data], "uri": [text, number],
        ]
        for (key, values) in refused {
            for value in values {
                let message = refusal(object, key, value)
                #expect(message?.hasPrefix("Unacceptable") == true && message?.contains("Everything.\(key)") == true, "\(key): \(value)")
                #expect(object.value(forKey: key) == nil, "nothing was set")
            }
            #expect(refusal(object, key, nil) == nil && refusal(object, key, NSNull()) == nil)
        }
        let message = "Unacceptable value for Everything.int16: 70000 does not fit a number of type Integer 16."
        #expect(refusal(object, "int16", 70_000) == message)
        #expect(refusal(object, "int16", NSNumber(value: 2.9)) == nil)
        #expect(object.value(forKey: "int16") as? Int == 2, "as NSNumber's int16Value")
    }

    @Test(arguments: StoreKind.recordLogs)
    func `A relationship checks the objects that it is given`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let person = stack.insert("Person", [:]), tag = stack.insert("Tag", [:])
        let other = stack.insert("Group", ["title": "g"], into: stack.anew())
        let free = NSManagedObject(entity: tag.entity, insertInto: nil)
        #expect(refusal(person, "group", tag)?.contains("Person.group holds objects of Group, not of Tag.") == true)
        #expect(refusal(person, "group", other)?.contains("object of another context") == true)
        #expect(refusal(person, "tags", Set([tag, free]))?.contains("the object that was given is in no context") == true)
        #expect(refusal(person, "group", "text")?.contains("a to-one relationship") == true)
        #expect(refusal(person, "tags", [tag, "text"] as [Any])?.contains("a to-many relationship") == true)
        stack.context.delete(tag)
        #expect(refusal(person, "tags", Set([tag]))?.contains("was deleted, or its context was reset") == true)
        #expect(person.value(forKey: "group") == nil && (person.value(forKey: "tags") as? NSSet)?.count == 0)
    }

    @Test(arguments: StoreKind.keepingEveryValue)
    func `NaN is kept and sorts before numbers`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        for key in ["double", "float"] {
            let stack = try TestStack(kind)
            everything(stack, key, [Double.nan, -Double.infinity, Double.infinity, 1.5])
            try stack.context.save()
            let values = try again(stack, key).compactMap { ($0 as? NSNumber)?.doubleValue }
            #expect(values.count == 4 && values[0].isNaN && values[1] == -.infinity && values[2] == .infinity && values[3] == 1.5)
            let context = stack.newContext()
            #expect(try stack.fetch("Everything", "\(key) > 1", in: context).count == 2)
            #expect(try stack.fetch("Everything", "\(key) == %@", [Double.infinity], in: context).count == 1)
            let sorted = try stack.fetch("Everything", sort: [NSSortDescriptor(key: key, ascending: true)], in: context)
            #expect(sorted.compactMap { ($0.value(forKey: key) as? NSNumber)?.doubleValue }.dropFirst() == [-.infinity, 1.5, .infinity])
        }
        // Setting NaN to NaN is a change, because NaN does not equal itself. No record log is written for it.
        guard StoreKind.planning.contains(kind) else { return }
        let object = stack.insert("Everything", ["double": Double.nan])
        try stack.context.save()
        object.setValue(Double.nan, forKey: "double")
        let bytes = stack.bytesAppended
        try stack.context.save()
        #expect(stack.bytesAppended == bytes)
    }

    @Test(arguments: StoreKind.keepingEveryValue)
    func `Dates however far away are kept`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let dates = [
            Date.distantPast, .distantFuture, Date(timeIntervalSinceReferenceDate: 1e300), Date(timeIntervalSinceReferenceDate: -1e300),
            Date(timeIntervalSinceReferenceDate: .infinity), Date(timeIntervalSinceReferenceDate: .leastNonzeroMagnitude),
        ]
        everything(stack, "date", dates + [Date(timeIntervalSinceReferenceDate: .nan)])
        try stack.context.save()
        let found = try again(stack, "date").compactMap { $0 as? Date }
        #expect(Array(found.prefix(dates.count)) == dates && found.last?.timeIntervalSinceReferenceDate.isNaN == true)
        let context = stack.newContext()
        #expect(try stack.fetch("Everything", "date > %@", [Date.distantFuture], in: context).count == 2)
        #expect(try stack.fetch("Everything", "date == %@", [dates[2]], in: context).count == 1)
        let sorted = try stack.fetch("Everything", sort: [NSSortDescriptor(key: "date", ascending: false)], in: context)
        #expect(sorted.first?.value(forKey: "date") as? Date == dates[4])
    }

    @Test(arguments: StoreKind.keepingEveryValue)
    func `Every decimal comes back`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let decimals = [
            Decimal.greatestFiniteMagnitude, -Decimal.greatestFiniteMagnitude, .leastNonzeroMagnitude, Decimal(string: "-0.1")!,
            Decimal(string: "99999999999999999999999999999999999999")!, Decimal(string: "123456789012345678901234567890.12345678")!,
            Decimal(string: "340282366920938463463374607431768211455")!, Decimal(string: "18446744073709551616")!, Decimal(0),
        ]
        let others: [Any] = [Decimal.nan, 12.5 as Double, NSNumber(value: 7), Int64.max, UInt64.max, NSNumber(value: -0.25)]
        everything(stack, "decimal", decimals + others)
        try stack.context.save()
        let found = try again(stack, "decimal").compactMap { ($0 as? NSDecimalNumber)?.decimalValue }
        #expect(Array(found.prefix(decimals.count)) == decimals)
        #expect(found.count == decimals.count + 6 && found[decimals.count].isNaN)
        #expect(Array(found.suffix(5)) == [12.5, 7, Decimal(Int64.max), Decimal(UInt64.max), -0.25], "a double was cut to a whole number")
    }

    /// A Swift string cannot hold half of a surrogate pair: made from such UTF-16, it has U+FFFD before Heartwood sees it.
    @Test(arguments: StoreKind.keepingEveryValue)
    func `Text is kept whole`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let lone = String(decoding: [0x61, 0xD800, 0x62] as [UInt16], as: UTF16.self)
        #expect(lone == "a\u{FFFD}b")
        let texts = ["a\0b", "a\0", "a", "\0", "", "a\0c", lone, "e\u{301}", "\u{E9}", "\u{10FFFF}"]
        for (number, text) in texts.enumerated() { stack.insert("Person", ["name": text, "email": text, "age": number]) }
        try stack.context.save()
        let context = stack.newContext()
        for (number, text) in texts.enumerated() where number < 7 {
            for format in ["name == %@", "email == %@", "name BEGINSWITH %@ AND name ENDSWITH %@ AND age == \(number)"] {
                let found = try stack.fetch("Person", format, format.contains("AND") ? [text, text] : [text], in: context)
                #expect(found.map { $0.value(forKey: "age") as? Int } == [number], "\(text.debugDescription) by \(format)")
                #expect((found.first?.value(forKey: "name") as? String).map { Array($0.utf8) } == Array(text.utf8))
            }
        }
        #expect(try stack.fetch("Person", "name CONTAINS %@", ["\0"], in: context).count == 4)
        #expect(try stack.fetch("Person", "name LIKE %@", ["a*c"], in: context).count == 1)
        // A NUL does not end the text: the second of these differs, the third does not.
        stack.insert("Person", ["email": "a\0d"])
        try stack.context.save()
        stack.insert("Person", ["email": "a\0b"])
        let error = #expect(throws: NSError.self) { try stack.context.save() }
        #expect(error?.code == NSManagedObjectConstraintMergeError)
    }

    /// As many as a test's time allows; `HEARTWOOD_OBJECTS=1000000` makes it a million.
    @Test
    func `One save takes very many objects`() throws {
        let count = ProcessInfo.processInfo.environment["HEARTWOOD_OBJECTS"].flatMap(Int.init) ?? 10_000
        let stack = try TestStack(.recordLog)
        let group = stack.insert("Group", ["title": "all"])
        let entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Person"])
        let name = try #require(entity.propertyIndexByName["name"]), toGroup = try #require(entity.propertyIndexByName["group"])
        for number in 0..<count {
            let person = Person(entity: entity, insertInto: stack.context)
            person.setManagedString("\(number)", at: name)
            person.setManagedObject(group, at: toGroup)
        }
        try stack.context.save()
        #expect(try stack.context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person")) == count)
        #expect(group.countOfManagedObjects(at: group.propertyIndex("people")) == count)
        stack.context.reset()
        #expect(try stack.fetch("Person", "name == %@", ["\(count - 1)"]).first?.value(forKeyPath: "group.title") as? String == "all")
    }
}
