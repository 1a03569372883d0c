import Foundation
import Testing

@testable import Heartwood

/// A class that overrides validation and does not call `super`.
final class CarelessItem: NSManagedObject {
    override func validateForInsert() throws {}
    override func validateForUpdate() throws {}
    override func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {}
}

/// The error that `body` throws.
private func refused(_ body: () throws -> Void) -> NSError? {
    do { try body() } catch { return error as NSError }
    return nil
}

/// Values that a person, a file or a service gave the program end no process: they are refused where the program can answer.
@Suite struct CallersValuesTests {
    private static let types: [(name: String, type: NSAttributeType)] = [
        ("int16", .integer16AttributeType), ("int32", .integer32AttributeType), ("int64", .integer64AttributeType), ("flag", .booleanAttributeType),
        ("float", .floatAttributeType), ("double", .doubleAttributeType), ("decimal", .decimalAttributeType), ("text", .stringAttributeType),
        ("date", .dateAttributeType), ("data", .binaryDataAttributeType), ("id", .UUIDAttributeType), ("uri", .URIAttributeType),
    ]

    private static func model() -> NSManagedObjectModel {
        let entity = NSEntityDescription(), model = NSManagedObjectModel()
        entity.name = "Item"
        entity.properties = types.map { name, type in
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType) = (name, type)
            return attribute
        }
        model.entities = [entity]
        return model
    }

    private static var numbers: [Any] { [
        40_000, -40_000, Int(Int32.max) + 1, Int(Int32.min) - 1, Int.max, Int.min, UInt64.max, 1e300, -1e300, Double.infinity, -Double.infinity,
        Double.nan, Float.infinity, Float.greatestFiniteMagnitude, NSNumber(value: 40_000), NSNumber(value: 1e300), NSNumber(value: Double.nan),
        NSDecimalNumber(string: "1e100"), NSDecimalNumber(string: "-1e100"), NSDecimalNumber.notANumber, Decimal(string: "1e100")!, Decimal.nan,
        0, 1, -1, 32_767, -32_768, 1.5, true,
    ] }

    @Test(arguments: StoreKind.keepingEveryValue)
    func `A number that does not fit is told by validation, taken by the setter and refused by the save`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: Self.model())
        for (key, _) in Self.types.prefix(7) {
            for number in Self.numbers {
                // JSON has no such numbers.
                if kind == .atomic, (number as? NSNumber)?.doubleValue.isFinite != true { continue }
                let item = stack.insert("Item", [:])
                var value: AnyObject? = AttributeCoding.bridged(number)
                let told = code(refused { try item.validateValue(&value, forKey: key) })
                for isPrimitive in [false, true] {
                    if isPrimitive { item.setPrimitiveValue(number, forKey: key) } else { item.setValue(number, forKey: key) }
                    let refusal = refused { try stack.context.save() }
                    #expect(code(refusal) == told, "\(key) \(number): \(String(describing: refusal))")
                    if let refusal {
                        #expect([1550, 1610, 1620].contains(refusal.code) && refusal.userInfo[NSValidationKeyErrorKey] as? String == key)
                        #expect(refusal.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === item)
                        // The object gives back the value that it was given.
                        let kept = (item.value(forKey: key) as? NSNumber)?.doubleValue, given = (number as? NSNumber)?.doubleValue
                        #expect(kept == given || given?.isNaN ?? true, "\(key) \(number)")
                    }
                    item.setValue(nil, forKey: key)
                }
                try stack.context.save()
            }
        }
    }

    @Test
    func `The codes of numbers that do not fit say too large and too small`() throws {
        let stack = try TestStack(.inMemory, model: Self.model())
        for (key, number, expected) in [
            ("int16", 40_000, 1610), ("int16", -40_000, 1620), ("int32", Int(Int32.max) + 1, 1610), ("int64", UInt64.max, 1610), ("int64", 1e300, 1610),
            ("int16", Double.nan, 1550), ("float", 1e300, 1610), ("float", -1e300, 1620), ("decimal", Double.infinity, 1610), ("int16", 32_767, nil),
            ("float", Double.infinity, nil), ("double", Double.nan, nil), ("flag", 1e300, nil),
        ] as [(String, Any, Int?)] {
            let item = stack.insert("Item", [key: number])
            #expect(code(refused { try stack.context.save() }) == expected, "\(key) \(number)")
            stack.context.delete(item)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `A save refuses a number that does not fit though the class validates nothing, also in a child and once it is replaced`(
        kind: StoreKind
    ) throws {
        let model = Self.model()
        model.entities[0].managedObjectClassName = "HeartwoodTests.CarelessItem"
        let stack = try TestStack(kind, model: model)
        let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        child.parent = stack.context
        for context in [stack.context, child] {
            let item = stack.insert("Item", ["int16": 40_000], into: context)
            #expect(item is CarelessItem)
            #expect(code(refused { try context.save() }) == NSValidationNumberTooLargeError)
            item.setValue(4, forKey: "int16")
            try context.save()
            item.setValue(-40_000, forKey: "int16")
            #expect(code(refused { try context.save() }) == NSValidationNumberTooSmallError)
            context.rollback()
            #expect(item.value(forKey: "int16") as? Int == 4)
            try context.save()
        }
    }

    @Test
    func `validateValue tells a value of a wrong type for an attribute without rules`() throws {
        let stack = try TestStack(.inMemory, model: Self.model()), item = stack.insert("Item", [:])
        for (key, _) in Self.types {
            var value: AnyObject? = key == "text" ? NSNumber(value: 1) : NSString(string: "x")
            #expect(code(refused { try item.validateValue(&value, forKey: key) }) == NSManagedObjectValidationError, "\(key)")
            value = nil
            try item.validateValue(&value, forKey: key)
        }
    }

    // MARK: Predicates

    private static var faulty: [(String, [Any])] { [
        ("text MATCHES %@", ["[x"]), ("text MATCHES[c] %@", ["("]), ("NOT text MATCHES %@", ["[x"]), ("int16 = 1 OR text MATCHES %@", ["*"]),
        ("text MATCHES '[x'", []), ("int16 BETWEEN %@", [[1]]), ("int16 BETWEEN %@", [3]), ("int16 IN %@", [3]), ("%K = 1", [""]), ("%K = 1", ["a..b"]),
        ("%K = 1", [String(repeating: "a.", count: 80) + "a"]), ("int16 = %d", ["abc"]), ("%K = 1", [3]), ("CAST(%@, 'NSDate') = date", ["abc"]),
        ("int16 = CAST(%@, %@)", ["1", "Nothing"]), ("FUNCTION(%@, 'name:', %@) = 1", [NSObject(), "a"]), ("FUNCTION(text, 'unknown') = 1", []),
        ("ANY int16 IN %@", [3]), ("SUBQUERY(self, $x, $x.text MATCHES %@).@count > 0", ["[x"]),
    ] }

    @Test(arguments: StoreKind.allCases)
    func `A predicate with an argument that does not fit makes the fetch throw, and nothing in memory meets it`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: Self.model()), item = stack.insert("Item", ["text": "x", "int16": 1])
        try stack.context.save()
        for (format, arguments) in Self.faulty {
            // A known format too.
            for _ in 0..<2 {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Item"), predicate = NSPredicate(format: format, argumentArray: arguments)
                request.predicate = predicate
                for hasChanges in [false, true] {
                    if hasChanges { item.setValue("y", forKey: "text") }
                    #expect(throws: NSError.self, "\(format)") { _ = try stack.context.fetch(request) }
                    #expect(throws: NSError.self, "\(format)") { _ = try stack.context.count(for: request) }
                    stack.context.rollback()
                }
                request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [NSPredicate(value: true), predicate])
                #expect(throws: NSError.self, "\(format)") { _ = try stack.context.fetch(request) }
                if format != "int16 = 1 OR text MATCHES %@" { #expect(!predicate.evaluate(with: item), "\(format)") }
                #expect(!predicate.predicateFormat.isEmpty && predicate == predicate && predicate.hash == predicate.hash)
                #expect(throws: (any Error).self, "\(format)") {
                    request.predicate = try NSPredicate(parsing: format, argumentArray: arguments)
                    _ = try stack.context.fetch(request)
                }
            }
        }
        #expect(NSExpression(format: "CAST(%@, 'NSDate')", "abc").expressionValue(with: item, context: nil) == nil)
        #expect(NSExpression(format: "FUNCTION(%@, 'name:', 1)", NSObject()).expressionValue(with: item, context: nil) == nil)
        #expect(!NSPredicate().evaluate(with: item))
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.predicate = NSPredicate()
        #expect(throws: NSError.self) { _ = try stack.context.fetch(request) }
    }

    @Test(arguments: StoreKind.allCases)
    func `Limits, offsets and batch sizes of any number are taken`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: Self.model())
        for number in 0..<3 { stack.insert("Item", ["int16": number]) }
        try stack.context.save()
        let sizes = [Int.min, -1, 0, 1, 2, 3, 4, Int.max - 1, Int.max]
        for limit in sizes {
            for offset in sizes {
                for hasChanges in [false, true] {
                    if hasChanges { stack.insert("Item", ["int16": 3]) }
                    let count = hasChanges ? 4 : 3, from = min(max(offset, 0), count)
                    let expected = (0..<count).dropFirst(from).prefix(limit <= 0 ? count : limit)
                    for batch in sizes {
                        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
                        (request.fetchLimit, request.fetchOffset, request.fetchBatchSize) = (limit, offset, batch)
                        request.sortDescriptors = [NSSortDescriptor(key: "int16", ascending: true)]
                        let found = try stack.context.fetch(request).map { $0.value(forKey: "int16") as? Int }
                        #expect(found == expected.map(Optional.some), "\(limit) \(offset) \(batch)")
                    }
                    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
                    (request.fetchLimit, request.fetchOffset, request.resultType) = (limit, offset, .dictionaryResultType)
                    #expect(try stack.context.fetch(request).count == (0..<3).dropFirst(min(max(offset, 0), 3)).prefix(limit <= 0 ? 3 : limit).count)
                    #expect(try stack.context.count(for: request) >= 0)
                    stack.context.rollback()
                }
            }
        }
    }

    @Test(arguments: StoreKind.keepingEveryValue)
    func `Texts of any scalars, dates of any seconds and keys of any text are taken or refused`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: Self.model())
        let texts = ["", "\u{0}", "a\u{0}b", "\u{FFFD}", "\u{FEFF}", "\u{202E}x", "e\u{301}", "😀", "[x", "*?", "\\", "'", "\"", "%@", "$x", "{", "\u{10FFFF}"]
        let lone = NSString(characters: [0xD800, 0x61], length: 2) as String
        for text in texts + [lone] {
            let item = stack.insert("Item", ["text": text])
            try stack.context.save()
            for format in ["text = %@", "text LIKE %@", "text CONTAINS[cd] %@", "text BEGINSWITH %@", "text ENDSWITH[l] %@", "text IN %@", "text > %@"] {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
                let predicate = NSPredicate(format: format, argumentArray: [format.contains(" IN ") ? [text] as Any : text])
                request.predicate = predicate
                let found = try stack.context.fetch(request)
                if format == "text = %@" || format == "text IN %@" { #expect(found.contains(item), "\(format) \(text.debugDescription)") }
                _ = predicate.predicateFormat
                // Only a format that states its texts as literals can be read again.
                _ = try? NSPredicate(parsing: predicate.predicateFormat)
            }
            for key in [text, "\(text).x", "x.\(text)", "@\(text)"] {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
                request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
                #expect(throws: NSError.self, "\(key.debugDescription)") { _ = try stack.context.fetch(request) }
            }
            stack.context.delete(item)
        }
        for seconds in [Double.nan, .infinity, -.infinity, 1e300, -1e300, 0, -1, .leastNonzeroMagnitude, 1e18] {
            if kind == .atomic, !seconds.isFinite { continue }
            let date = Date(timeIntervalSinceReferenceDate: seconds), item = stack.insert("Item", ["date": date, "double": seconds])
            try stack.context.save()
            for format in ["date = %@", "date < %@", "date >= %@", "date BETWEEN {%@, %@}"] {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
                request.predicate = NSPredicate(format: format, argumentArray: [date, date])
                _ = try stack.context.fetch(request)
                _ = request.predicate?.predicateFormat
            }
            stack.context.delete(item)
        }
        try stack.context.save()
    }

    @Test
    func `A sort key that a person wrote ends no sort of an array`() {
        let long = String(repeating: "a.", count: 80) + "a"
        for key in ["", ".", "a..b", long] {
            let descriptor = NSSortDescriptor(key: key, ascending: true)
            #expect(descriptor.compare(["a": 1], to: ["a": 2]) == .orderedSame)
        }
    }
}
