import Foundation
import Testing

@testable import Heartwood

@Suite struct ValuesTests {
    /// Persons 0...count, of which every third is an employee, every fourth has no name, and every fifth no group.
    static func filled(_ kind: StoreKind, count: Int = 40) throws -> TestStack {
        let stack = try TestStack(kind)
        let groups = ["red", "blue"].map { stack.insert("Group", ["title": $0]) }, tag = stack.insert("Tag", ["label": "t"])
        for index in 0..<count {
            let person = stack.insert(index % 3 == 0 ? "Employee" : "Person", ["age": index * 7 % 11, "email": "\(index)"])
            if index % 4 != 0 { person.setValue("name \(index * 5 % 13) \(String(repeating: "x", count: index % 20))", forKey: "name") }
            if index % 5 != 0 { person.setValue(groups[index % 2], forKey: "group") }
            if index % 3 == 0 { person.setValue(NSDecimalNumber(value: index), forKey: "salary") }
            if index % 2 == 0 { person.setValue(Set([tag]), forKey: "tags") }
            if index % 7 == 0 { person.setValue(Date(timeIntervalSinceReferenceDate: Double(index)), forKey: "birthday") }
        }
        try stack.context.save()
        return stack
    }

    private func people(_ sort: String...) -> NSFetchRequest<Person> {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.sortDescriptors = sort.map { NSSortDescriptor(key: $0, ascending: true) }
        return request
    }

    @Test(arguments: StoreKind.allCases)
    func `Key paths give tuples of their types, and one key path gives its values`(kind: StoreKind) throws {
        let stack = try Self.filled(kind), context = stack.newContext()
        let rows: [(String?, Int)] = try context.values(people("email"), \.name, \.age)
        let objects = try stack.context.fetch(people("email"))
        #expect(rows.map(\.0) == objects.map(\.name) && rows.map(\.1) == objects.map(\.age))
        let ages: [Int] = try context.values(people("email"), \.age)
        #expect(ages == objects.map(\.age))
        let ids: [NSManagedObjectID] = try context.values(people("email"), \.objectID)
        #expect(ids == objects.map(\.objectID))
        let none: [Int] = try context.values(request("email == 'nobody'"), \.age)
        #expect(none.isEmpty)
    }

    private func request(_ format: String) -> NSFetchRequest<Person> {
        let request = people("email")
        request.predicate = NSPredicate(format: format)
        return request
    }

    @Test(arguments: StoreKind.allCases)
    func `Names give values behind to-one relationships, counts of members, and IDs`(kind: StoreKind) throws {
        let stack = try Self.filled(kind), context = stack.newContext()
        let rows = try context.values(
            people("email"), AttributePath<String?>("group.title"), AttributePath<Int>("tags.@count"), AttributePath<NSManagedObjectID?>("group"),
            AttributePath<Decimal?>("salary"), AttributePath<Date?>("birthday"), AttributePath<NSDecimalNumber?>("salary"))
        let objects = try stack.context.fetch(people("email"))
        for (row, object) in zip(rows, objects) {
            #expect(row.0 == object.value(forKeyPath: "group.title") as? String)
            #expect(row.1 == (object.value(forKey: "tags") as? Set<NSManagedObject>)?.count)
            #expect(row.2 == object.group?.objectID)
            let salary = object.entity.name == "Employee" ? object.value(forKey: "salary") as? NSDecimalNumber : nil
            #expect(row.3 == salary?.decimalValue && row.5 == salary)
            #expect(row.4 == object.value(forKey: "birthday") as? Date)
        }
        #expect(rows.count == 40)
    }

    @Test(arguments: StoreKind.allCases)
    func `Condition, order and window are the request's`(kind: StoreKind) throws {
        let stack = try Self.filled(kind), context = stack.newContext()
        for format in [nil, "age > 3", "group.title == 'red'", "name BEGINSWITH 'name 1'", "ANY tags.label == 't'"] {
            for keys in [["email"], ["age", "email"], ["name", "email"], ["group.title", "email"]] {
                for (offset, limit) in [(0, 0), (0, 5), (3, 0), (3, 5), (100, 5)] {
                    for includesSubentities in [true, false] {
                        let request = NSFetchRequest<Person>(entityName: "Person")
                        request.predicate = format.map { NSPredicate(format: $0) }
                        request.sortDescriptors = keys.enumerated().map { NSSortDescriptor(key: $1, ascending: $0 == 1) }
                        (request.fetchOffset, request.fetchLimit, request.includesSubentities) = (offset, limit, includesSubentities)
                        let rows = try context.values(request, AttributePath<String>("email"), AttributePath<String?>("group.title"))
                        let objects = try stack.context.fetch(request)
                        #expect(rows.map(\.0) == objects.map { $0.value(forKeyPath: "email") as? String })
                        #expect(rows.map(\.1) == objects.map { $0.value(forKeyPath: "group.title") as? String })
                    }
                }
            }
        }
    }

    @Test(arguments: StoreKind.planning)
    func `No object is made, and each row is read once`(kind: StoreKind) throws {
        let stack = try Self.filled(kind), context = stack.newContext()
        let before = stack.rowReads
        let rows = try context.values(people(), \.name, \.age)
        #expect(rows.count == 40 && context.registeredCount == 0 && stack.rowReads - before == 40)
        #expect(!context.queries.lastQueryWasInMemory)
    }

    // MARK: Types

    @Test(arguments: StoreKind.allCases)
    func `A type that does not fit its attribute is an error that names both`(kind: StoreKind) throws {
        let stack = try Self.filled(kind), context = stack.newContext()
        func message(_ body: () throws -> Void) -> String {
            do { try body() } catch {
                let error = error as NSError
                #expect(error.domain == NSCocoaErrorDomain && error.code == NSPersistentStoreUnsupportedRequestTypeError)
                return error.localizedDescription
            }
            return "no error"
        }
        let number = message { _ = try context.values(people(), AttributePath<Int>("name")) }
        #expect(number.contains("Person.name") && number.contains("String") && number.contains("Int"))
        #expect(message { _ = try context.values(people(), AttributePath<String?>("age")) }.contains("Integer 32"))
        #expect(message { _ = try context.values(people(), AttributePath<Date>("group.title")) }.contains("group.title"))
        #expect(message { _ = try context.values(people(), AttributePath<String>("group")) }.contains("to-one"))
        #expect(message { _ = try context.values(people(), AttributePath<Int>("tags")) }.contains("tags.@count"))
        #expect(message { _ = try context.values(people(), AttributePath<Int>("nothing")) }.contains("nothing"))
        #expect(message { _ = try context.values(people(), \.group) }.contains("NSManagedObjectID"))
        #expect(message { _ = try context.values(people(), \.insertions) }.contains("insertions"))
        let dictionaries = people()
        dictionaries.resultType = .dictionaryResultType
        #expect(message { _ = try context.values(dictionaries, \.age) }.contains("dictionaryResultType"))
    }

    @Test(arguments: StoreKind.allCases)
    func `A missing value where the type has none, and one that does not fit, are errors that name the object`(kind: StoreKind) throws {
        let stack = try Self.filled(kind), context = stack.newContext()
        func failure(_ body: () throws -> Void) -> (code: Int, text: String, ids: Int) {
            do { try body() } catch {
                let error = error as NSError
                return (error.code, error.localizedDescription, (error.userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObjectID])?.count ?? 0)
            }
            return (0, "no error", 0)
        }
        let missing = failure { _ = try context.values(people("email"), AttributePath<Int>("age"), AttributePath<String>("name")) }
        #expect(missing.code == NSValidationMissingMandatoryPropertyError && missing.text.contains("String?") && missing.ids == 1)
        let path = failure { _ = try context.values(people("email"), AttributePath<String>("group.title")) }
        #expect(path.code == NSValidationMissingMandatoryPropertyError)
        stack.insert("Everything", ["int64": 1000])
        try stack.context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Everything")
        let wide = failure { _ = try stack.newContext().values(request, AttributePath<Int8?>("int64")) }
        #expect(wide.code == NSManagedObjectValidationError && wide.text.contains("Int8") && wide.ids == 1)
    }
}
