import Foundation
import Testing

@testable import Heartwood

/// Rows as structures of the caller's.
@Suite struct DecodedValuesTests {
    private struct PersonRow: Decodable, Equatable {
        let email: String
        let name: String?
        let age: Int32
        let birthday: Date?
        let salary: Decimal?
        let group: String?
        let tags: Int

        enum CodingKeys: String, CodingKey { case email, name, age, birthday, salary, group = "group.title", tags = "tags.@count" }
    }

    private func people() -> NSFetchRequest<Person> {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true), NSSortDescriptor(key: "email", ascending: true)]
        return request
    }

    private func rows(_ objects: [Person]) -> [PersonRow] {
        objects.map { object in
            let salary = object.entity.name == "Employee" ? (object.value(forKey: "salary") as? NSDecimalNumber)?.decimalValue : nil
            return PersonRow(
                email: object.value(forKey: "email") as? String ?? "", name: object.name, age: Int32(object.age),
                birthday: object.value(forKey: "birthday") as? Date, salary: salary, group: object.value(forKeyPath: "group.title") as? String,
                tags: (object.value(forKey: "tags") as? Set<NSManagedObject>)?.count ?? 0)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `Properties are attributes, paths and counts, from rows and from changes`(kind: StoreKind) throws {
        let stack = try ValuesTests.filled(kind), context = stack.newContext()
        #expect(try context.values(people(), as: PersonRow.self) == rows(stack.context.fetch(people())))
        if kind != .incremental { #expect(context.registeredCount == 0) }
        let objects = try context.fetch(people())
        (objects[1].name, objects[2].age) = ("changed", 77)
        context.delete(objects[4])
        objects[7].group?.setValue("green", forKey: "title")
        #expect(try context.values(people(), as: PersonRow.self) == rows(context.fetch(people())))
        let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        child.parent = context
        #expect(try child.values(people(), as: PersonRow.self) == rows(context.fetch(people())))
    }

    /// Its keys are texts, and come in an order of each row's own.
    private struct Turned: Decodable, Equatable {
        struct Key: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(_ text: String) { stringValue = text }
            init?(stringValue: String) { self.init(stringValue) }
            init?(intValue: Int) { nil }
        }

        /// Keys that look alike in memory.
        enum FirstKey: String, CodingKey { case name, email }
        enum SecondKey: String, CodingKey { case email, name }

        let age: Int, name: String?, email: String?, again: [String?]

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            age = try container.decode(Int.self, forKey: Key("age"))
            if age % 2 == 0 {
                name = try container.decodeIfPresent(String.self, forKey: Key("name"))
                email = try container.decode(String.self, forKey: Key("email"))
            } else {
                email = try container.decodeIfPresent(String.self, forKey: Key("email"))
                name = try container.decodeIfPresent(String.self, forKey: Key("name"))
            }
            let first = try decoder.container(keyedBy: FirstKey.self), second = try decoder.container(keyedBy: SecondKey.self)
            again = [
                try first.decodeIfPresent(String.self, forKey: .name), try second.decodeIfPresent(String.self, forKey: .email),
                try first.decodeIfPresent(String.self, forKey: .email), try second.decodeIfPresent(String.self, forKey: .name),
            ]
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `A type may decode its keys in any order, by keys of several types`(kind: StoreKind) throws {
        let stack = try ValuesTests.filled(kind), context = stack.newContext()
        func check() throws {
            let objects = try context.fetch(people())
            let rows = try context.values(people(), as: Turned.self)
            #expect(rows.map(\.age) == objects.map { Int($0.age) } && rows.map(\.name) == objects.map(\.name))
            for (row, object) in zip(rows, objects) {
                let email = object.value(forKey: "email") as? String
                #expect(row.email == email && row.again == [object.name, email, email, object.name])
            }
        }
        try check()
        try context.fetch(people())[1].name = "changed"
        try check()
    }

    private enum Level: Int, Decodable { case one = 1, two }
    private struct Code: Decodable, Equatable {
        let text: String
        init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }
    }

    private struct Every: Decodable {
        let int16: Int?, int32: Level?, int64: UInt?, double: Double?, float: Float?, decimal: Decimal?, string: Code?, bool: Bool?
        let date: Date?, data: Data?, uuid: UUID?, uri: URL?, transformable: [String]?
    }

    @Test(arguments: StoreKind.allCases)
    func `Every type of attribute is decoded, with a value and without`(kind: StoreKind) throws {
        let stack = try TestStack(kind), uuid = UUID(), url = try #require(URL(string: "https://example.org"))
        stack.insert("Everything", ["int16": 0])
        stack.insert("Everything", [
            "int16": 1, "int32": 2, "int64": 3, "double": 1.5, "float": 2.5, "decimal": NSDecimalNumber(string: "0.1"), "string": "text",
            "bool": true, "date": Date(timeIntervalSinceReferenceDate: 4), "data": Data([1, 2]), "uuid": uuid, "uri": url,
            "transformable": ["a", "b"] as NSArray,
        ])
        try stack.context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Everything")
        request.sortDescriptors = [NSSortDescriptor(key: "int16", ascending: true)]
        let rows = try stack.newContext().values(request, as: Every.self)
        let (none, full) = (rows[0], rows[1])
        #expect(none.int32 == nil && none.int64 == nil && none.double == nil && none.float == nil && none.decimal == nil && none.string == nil)
        #expect(none.bool == nil && none.date == nil && none.data == nil && none.uuid == nil && none.uri == nil && none.transformable == nil)
        #expect(full.int16 == 1 && full.int32 == .two && full.int64 == 3 && full.double == 1.5 && full.float == 2.5)
        #expect(full.decimal == Decimal(string: "0.1") && full.string?.text == "text" && full.bool == true && full.data == Data([1, 2]))
        #expect(full.date == Date(timeIntervalSinceReferenceDate: 4) && full.uuid == uuid && full.uri == url && full.transformable == ["a", "b"])
    }

    // MARK: Hostile types

    private struct Unknown: Decodable { let nothing: String? }
    private struct Required: Decodable { let name: String }
    private struct WrongType: Decodable { let name: Int }
    private struct Inner: Decodable { let a: Int }
    private struct Nested: Decodable { let name: Inner? }
    private struct Listed: Decodable { let email: [String] }
    private class Base: Decodable { let age: Int }
    private final class Derived: Base {
        required init(from decoder: any Decoder) throws { try super.init(from: decoder.container(keyedBy: Keys.self).superDecoder()) }
        enum Keys: String, CodingKey { case age }
    }
    private struct Keyed: Decodable {
        init(from decoder: any Decoder) throws {
            _ = try decoder.container(keyedBy: Derived.Keys.self).nestedContainer(keyedBy: Derived.Keys.self, forKey: .age)
        }
    }

    @Test(arguments: [StoreKind.recordLog, .incremental])
    func `A type that rows cannot serve gets an error of decoding that names the key`(kind: StoreKind) throws {
        let stack = try ValuesTests.filled(kind), context = stack.newContext()
        func failure<Row: Decodable>(_ type: Row.Type) -> String {
            do {
                _ = try context.values(people(), as: type)
                return "no error"
            } catch let error as DecodingError {
                return switch error {
                case .keyNotFound(let key, _): "no key \(key.stringValue)"
                case .valueNotFound(_, let context): "no value \(context.codingPath.map(\.stringValue))"
                case .typeMismatch(_, let context): "type \(context.codingPath.map(\.stringValue))"
                default: "\(error)"
                }
            } catch {
                return "\(error)"
            }
        }
        #expect(failure(Unknown.self) == "no key nothing")
        #expect(failure(Required.self) == "no value [\"name\"]")
        #expect(failure(WrongType.self) == "type [\"name\"]")
        #expect(failure(Nested.self) == "type [\"name\"]")
        #expect(failure(Listed.self) == "type [\"email\"]")
        #expect(failure(Derived.self) == "type []")
        #expect(failure(Keyed.self) == "type [\"age\"]")
        #expect(failure([String].self) == "type []")
        #expect(failure(String.self) == "type []")
    }
}
