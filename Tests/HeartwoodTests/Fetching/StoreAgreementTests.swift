import Foundation
import HeartwoodTestSupport
import Testing

@testable import Heartwood

/// Constants on which a store and memory might disagree: the planner's choice, a scan, each index by force and memory find the same.
@Suite struct StoreAgreementTests {
    /// Samples with these values, and an index over each of these keys or expressions.
    private func stack(_ kind: StoreKind, _ keys: [String], where predicate: String? = nil, _ rows: [[String: Any]]) throws -> TestStack {
        let model = SampleGraph.model(), sample = model.entitiesByName["Sample"]!
        sample.indexes = keys.map { key in
            let computed = NSExpressionDescription()
            computed.expression = NSExpression(format: key)
            let element = NSFetchIndexElementDescription(property: sample.propertiesByName[key] ?? computed, collationType: .binary)
            let index = NSFetchIndexDescription(name: key, elements: [element])
            index.partialIndexPredicate = predicate.map { NSPredicate(format: $0) }
            return index
        }
        let stack = try TestStack(kind, model: model)
        for row in rows { stack.insert("Sample", row) }
        try stack.context.save()
        return stack
    }

    /// The number of objects found in memory, checked against every access path through the store.
    private func count(_ stack: TestStack, _ format: String, _ arguments: [Any] = [], of entity: String = "Sample") throws -> Int {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        let predicate = NSPredicate(format: format, argumentArray: arguments)
        request.predicate = predicate
        let matched = predicate.asFetched(entity, in: stack)
        let wanted = Set(try stack.fetch(entity).filter { matched.evaluate(with: $0) })
        let names = stack.coordinator.managedObjectModel.entitiesByName[entity]?.indexes.map(\.name) ?? []
        for tuning in [QueryTuning(), QueryTuning(access: .scan)] + names.map({ QueryTuning(access: .index("index:\($0)")) }) {
            try QueryTuning.with(tuning) { () throws in
                let found = try stack.context.fetch(request)
                #expect(Set(found) == wanted && found.count == wanted.count, "\(predicate) by \(tuning): \(found.count), memory \(wanted.count)")
                #expect(!stack.context.queries.lastQueryWasInMemory, "\(predicate)")
                #expect(try stack.context.count(for: request) == wanted.count, "\(predicate), counted")
            }
        }
        return wanted.count
    }

    @Test(arguments: StoreKind.planning)
    func `A boolean does not equal a number other than zero and one`(kind: StoreKind) throws {
        let flags: [[String: Any]] = (0..<40).map { $0 % 4 == 3 ? [:] : ["flag": $0 % 4 == 1] }
        let stack = try stack(kind, ["flag"], flags)
        for (format, wanted) in [
            ("flag == 2", 0), ("flag != 2", 40), ("flag == -1", 0), ("flag < 2", 30), ("flag > -1", 30), ("flag >= 9007199254740993", 0),
            ("flag <= -3", 0), ("flag < -0.5", 0), ("flag < 0.5", 20), ("flag > 1.5", 0), ("flag IN {2}", 0), ("flag IN {1, 2}", 10),
            ("flag IN {0, -1, nil}", 30), ("flag == 1 OR flag == 2", 10), ("flag BETWEEN {-5, 5}", 30), ("NOT flag == 2", 40), ("flag == YES", 10),
        ] {
            #expect(try count(stack, format) == wanted, "\(format)")
        }
    }

    @Test(arguments: StoreKind.planning)
    func `A partial index over booleans is not mistaken for another`(kind: StoreKind) throws {
        for (partial, asked, wanted) in [
            ("flag == 2", "flag == 1", 14), ("flag IN {2, 3}", "flag == 1", 14), ("flag > 1", "flag == YES", 14), ("flag < 2", "flag == 1", 14)]
        {
            let stack = try stack(kind, ["bits"], where: partial, (0..<28).map { ["flag": $0 % 2 == 1, "bits": $0] })
            #expect(try count(stack, "\(asked) AND bits >= 0") == wanted, "\(partial)")
        }
    }

    @Test(arguments: StoreKind.planning)
    func `Objects of another store do not match this store's objects`(kind: StoreKind) throws {
        func filled() throws -> (stack: TestStack, groups: [NSManagedObject], person: NSManagedObject) {
            let stack = try TestStack(kind)
            let groups = (0..<3).map { stack.insert("Group", ["title": "g\($0)"]) }
            let people = (0..<6).map { stack.insert("Person", ["name": "p\($0)", "group": groups[$0 % 3]]) }
            try stack.context.save()
            return (stack, groups, people[0])
        }
        let here = try filled(), there = try filled(), unsaved = there.stack.insert("Group", ["title": "new"])
        #expect(Set(here.groups.map(\.key)) == Set(there.groups.map(\.key)))
        for (group, isHere) in [(here.groups[0], true), (there.groups[0], false), (unsaved, false)] {
            for given in [group, group.objectID] as [Any] {
                #expect(try count(here.stack, "group == %@", [given], of: "Person") == (isHere ? 2 : 0))
                #expect(try count(here.stack, "group != %@", [given], of: "Person") == (isHere ? 4 : 6))
                #expect(try count(here.stack, "group IN %@", [[given]], of: "Person") == (isHere ? 2 : 0))
                #expect(try count(here.stack, "SELF == %@", [given], of: "Group") == (isHere ? 1 : 0))
                #expect(try count(here.stack, "SELF != %@", [given], of: "Group") == (isHere ? 2 : 3))
            }
        }
        for (person, wanted) in [(here.person, 1), (there.person, 0)] {
            for format in ["ANY people == %@", "people CONTAINS %@", "ANY people IN {%@}"] {
                #expect(try count(here.stack, format, [person], of: "Group") == wanted, "\(format)")
            }
            #expect(try count(here.stack, "SELF IN %@", [[person.objectID, there.person]], of: "Person") == wanted)
        }
        #expect(try count(here.stack, "group IN %@", [there.groups + [here.groups[1]]], of: "Person") == 2)
    }

    /// Two coordinators may have one file open: both have the same objects.
    @Test
    func `Objects of another coordinator over the same file match`() throws {
        let first = try TestStack(.recordLog), group = first.insert("Group", ["title": "g"])
        first.insert("Person", ["group": group])
        try first.context.save()
        let second = try TestStack(.recordLog, at: first.url)
        #expect(try count(second, "group == %@", [group], of: "Person") == 1)
        #expect(try count(second, "group == %@", [group.objectID], of: "Person") == 1)
    }

    @Test
    func `An object is not a list of objects`() throws {
        let stack = try TestStack(.inMemory), group = stack.insert("Group", ["title": "g"])
        stack.insert("Person", ["group": group])
        try stack.context.save()
        for format in ["SELF == %@", "ANY people == %@"] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Group")
            request.predicate = NSPredicate(format: format, argumentArray: [[group] + (try stack.fetch("Person"))])
            #expect(try stack.context.fetch(request).isEmpty, "\(format)")
        }
    }

    @Test(arguments: StoreKind.planning)
    func `An integer is compared with a decimal exactly`(kind: StoreKind) throws {
        let large: Int64 = 9_007_199_254_740_992, numbers = [large, large + 1, large + 2, 0, -1, .max, .min]
        let stack = try stack(kind, ["bits"], numbers.map { ["bits": $0] } + [[:]])
        for (format, text, wanted) in [
            ("bits == %@", "9007199254740993", 1), ("bits != %@", "9007199254740993", 7), ("bits < %@", "9007199254740993", 4),
            ("bits > %@", "9007199254740993", 2), ("%@ >= bits", "9007199254740993", 5), ("bits > %@", "9007199254740992.5", 3),
            ("bits == %@", "9007199254740992.5", 0), ("bits <= %@", "-0.5", 2), ("bits > %@", "-0.5", 5), ("bits == %@", "9223372036854775807", 1),
            ("bits >= %@", "9223372036854775808", 0), ("bits < %@", "9223372036854775808", 7), ("bits >= %@", "-9223372036854775808", 7),
            ("bits > %@", "-9223372036854775808.5", 7), ("bits < %@", "1e100", 7), ("bits < %@", "-1e100", 0), ("bits > %@", "1e-100", 4),
            ("bits >= %@", "-1e-100", 5),
        ] {
            #expect(try count(stack, format, [NSDecimalNumber(string: text)]) == wanted, "\(format) \(text)")
        }
    }

    @Test(arguments: StoreKind.planning)
    func `Nothing is less or greater than NaN`(kind: StoreKind) throws {
        var rows: [[String: Any]] = (0..<4).map { ["bits": $0, "ratio": Double($0), "price": Decimal($0), "flag": true] }
        rows += [["ratio": Double.nan, "price": NSDecimalNumber.notANumber], [:]]
        let keys = ["bits", "ratio", "price", "ratio * 2", "price * 2", "flag"]
        let stack = try stack(kind, keys, rows)
        for key in keys {
            for none in [NSDecimalNumber.notANumber, Double.nan] as [Any] {
                for order in ["==", "<", "<=", ">", ">="] { #expect(try count(stack, "\(key) \(order) %@", [none]) == 0, "\(key) \(order)") }
                #expect(try count(stack, "\(key) != %@", [none]) == 6, "\(key)")
                #expect(try count(stack, "%@ < \(key)", [none]) == 0, "\(key)")
            }
        }
        for key in ["ratio", "price"] {
            #expect(try count(stack, "\(key) < 2") == 2 && count(stack, "\(key) <= 5") == 4 && count(stack, "\(key) > -1") == 4, "\(key)")
            #expect(try count(stack, "\(key) != 1") == 5 && count(stack, "\(key) != nil") == 5, "\(key)")
        }
    }

    @Test(arguments: StoreKind.planning)
    func `Options apply to URIs too`(kind: StoreKind) throws {
        let links = ["http://a.b/c", "http://A.B/c", "http://a.b/C", "http://b.c/d"]
        let stack = try stack(kind, ["link"], links.map { ["link": URL(string: $0)!] } + [[:]])
        for (format, wanted) in [
            ("link ==[c] 'http://a.b/c'", 3), ("link ==[cd] 'HTTP://A.B/C'", 3), ("link !=[c] 'http://a.b/c'", 2), ("link <[c] 'http://b'", 3),
            ("link >=[cd] 'HTTP://B'", 1), ("link BETWEEN[c] {'HTTP://A', 'HTTP://B'}", 3), ("link IN[c] {'HTTP://A.B/C', 'x'}", 3),
            ("link ==[l] 'http://a.b/c'", 1), ("link == 'http://a.b/c'", 1), ("link BEGINSWITH[c] 'HTTP://A'", 3),
        ] {
            #expect(try count(stack, format) == wanted, "\(format)")
        }
        let url = try #require(URL(string: "http://A.b/C"))
        #expect(try count(stack, "link ==[c] %@", [url]) == 3 && count(stack, "link == %@", [url]) == 0)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Sample")
        request.predicate = NSPredicate(format: "link ==[c] 'http://a.b/c'")
        stack.insert("Sample", ["link": try #require(URL(string: "HTTP://A.B/C"))])
        #expect(try stack.context.fetch(request).count == 4)
    }

    /// For a relationship without an inverse, or whose inverse has the no-action rule, the destination is null through every access path.
    @Test(arguments: StoreKind.planning)
    func `A deleted destination is null`(kind: StoreKind) throws {
        let model = NSManagedObjectModel(), a = NSEntityDescription(), b = NSEntityDescription()
        (a.name, b.name) = ("A", "B")
        let friend = TestStack.relationship("friend", to: b, toMany: false), boss = TestStack.relationship("boss", to: b, toMany: false)
        let team = TestStack.relationship("team", to: a, toMany: true, rule: .noActionDeleteRule),
            name = TestStack.attribute("name", .stringAttributeType)
        TestStack.connect(boss, team)
        a.properties = [friend, boss, TestStack.attribute("id", .integer32AttributeType)]
        a.indexes = [TestStack.index("friend", [friend]), TestStack.index("boss", [boss])]
        b.properties = [name, TestStack.relationship("next", to: b, toMany: false), team]
        b.indexes = [TestStack.index("name", [name])]
        model.entities = [a, b]
        let stack = try TestStack(kind, model: model)
        let others = ["gone", "kept", "lost"].map { stack.insert("B", ["name": $0]) }
        others[1].setValue(others[0], forKey: "next")
        for number in 0..<40 {
            let one = stack.insert("A", ["id": number])
            for key in ["friend", "boss"] where number % 4 < 3 { one.setValue(others[number % 4], forKey: key) }
        }
        try stack.context.save()
        stack.context.delete(others[0])
        stack.context.delete(others[2])
        try stack.context.save()
        // A fault that has found no row counts as deleted, so memory and the store use separate contexts.
        let memory = stack.newContext(), all = try stack.fetch("A", in: memory)
        func check(_ format: String, _ wanted: Int) throws {
            let request = NSFetchRequest<NSManagedObject>(entityName: "A"), predicate = NSPredicate(format: format)
            request.predicate = predicate
            #expect(all.filter { predicate.evaluate(with: $0) }.count == wanted, "\(format) in memory")
            for tuning in [
                QueryTuning(), QueryTuning(access: .scan), QueryTuning(access: .index("index:friend")), QueryTuning(access: .index("index:boss"))]
            {
                let reader = stack.newContext()
                try QueryTuning.with(tuning) { () throws in
                    #expect(try reader.fetch(request).count == wanted && reader.count(for: request) == wanted, "\(format) by \(tuning)")
                    #expect(!reader.queries.lastQueryWasInMemory, "\(format)")
                }
            }
        }
        for key in ["friend", "boss"] {
            for (format, wanted) in [
                ("name == nil", 30), ("name != 'q'", 40), ("name == 'kept'", 10), ("name != 'kept'", 30), ("name == 'gone'", 0),
                ("name IN {'kept', nil}", 40),
                ("name != nil", 10), ("next.name == nil", 40), ("next.name != 'q'", 40), ("name == name", 40), ("name BEGINSWITH 'k'", 10),
            ] {
                let path = format.replacingOccurrences(of: "name", with: "\(key).name").replacingOccurrences(
                    of: "next.\(key).", with: "\(key).next.")
                try check(path, wanted)
                try check("NOT (\(path))", 40 - wanted)
            }
        }
        withExtendedLifetime(memory) {}
    }

    @Test(arguments: StoreKind.planning)
    func `A relationship that only another entity has has no members`(kind: StoreKind) throws {
        let model = NSManagedObjectModel(), base = NSEntityDescription(), boss = NSEntityDescription(), note = NSEntityDescription()
        (base.name, boss.name, note.name) = ("Base", "Boss", "Note")
        let notes = TestStack.relationship("notes", to: note, toMany: true), owner = TestStack.relationship("owner", to: boss, toMany: false)
        TestStack.connect(notes, owner)
        base.properties = [TestStack.attribute("name", .stringAttributeType)]
        boss.properties = [notes, TestStack.attribute("rank", .integer32AttributeType)]
        base.subentities = [boss]
        note.properties = [owner, TestStack.attribute("weight", .integer32AttributeType)]
        model.entities = [base, boss, note]
        let stack = try TestStack(kind, model: model)
        for _ in 0..<3 { stack.insert("Base", ["name": "plain"]) }
        stack.insert("Boss", ["name": "idle", "rank": 0])
        stack.insert("Boss", ["name": "busy", "rank": 1, "notes": Set([stack.insert("Note", ["weight": 2])])])
        stack.insert("Boss", ["name": "new"])
        try stack.context.save()
        for (format, wanted) in [
            ("notes.@count == 0", 5), ("notes.@count == rank", 2), ("notes.@count + 1 == 1", 5), ("notes.@count > 0", 1),
            ("notes.@count IN {0, 7}", 5), ("notes.@sum.weight == 0", 5),
            ("notes.@count == nil", 0), ("notes.@max.weight == nil", 5), ("rank == nil", 4), ("ANY notes.weight == nil", 0),
            ("NOT notes.@count == rank", 4),
        ] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Base")
            request.predicate = NSPredicate(format: format)
            #expect(try stack.fetch("Base").filter { request.predicate!.evaluate(with: $0) }.count == wanted, "\(format) in memory")
            #expect(try stack.context.fetch(request).count == wanted && stack.context.count(for: request) == wanted, "\(format)")
        }
        let counts = NSFetchRequest<NSDictionary>(entityName: "Base")
        counts.resultType = .dictionaryResultType
        counts.propertiesToFetch = ["notes.@count"]
        #expect(try stack.context.fetch(counts).compactMap { $0["notes.@count"] as? Int }.sorted() == [0, 0, 0, 0, 0, 1])
    }

    /// Rows answer it: no object is made for each row, and no list is searched linearly.
    @Test(arguments: StoreKind.planning)
    func `A list of numbers may have them in any form`(kind: StoreKind) throws {
        let large: Int64 = 9_007_199_254_740_993
        var rows: [[String: Any]] = (0..<20).map { ["bits": $0, "ratio": Double($0) / 4, "price": Decimal($0) / 2, "flag": $0 % 2 == 0] }
        rows += [["bits": large, "ratio": 0.1], ["bits": -1, "ratio": 1e300], ["ratio": Double.nan], [:]]
        let stack = try stack(kind, ["bits", "ratio", "price", "flag"], rows)
        let decimals = ["2", "3.0", "4.5", "9007199254740993", "1e30", "0.25", "0.1", "-1"].map { NSDecimalNumber(string: $0) }
        let doubles: [Any] = [2.0, 3.5, -1.0, 9_007_199_254_740_992.0, 1e300, Double.nan, Double.infinity, 0.25]
        for (key, list, wanted) in [
            ("bits", doubles, 2), ("bits", decimals, 4), ("bits", [1, 2.0, true, NSDecimalNumber(string: "7")] as [Any], 3),
            ("bits", [5.0, NSNull()] as [Any], 3), ("bits", [0.5], 0),
            ("bits", [NSDecimalNumber.notANumber, 3.0] as [Any], 1), ("bits", ["3", 4.0, "x"] as [Any], 2), ("bits", [Double](), 0),
            ("ratio", [1, 2, 3] as [Any], 3), ("ratio", decimals, 5), ("ratio", doubles, 4), ("ratio", [large, Int64.max, 4] as [Any], 1),
            ("ratio", [true, 0.1, NSNull()] as [Any], 3), ("ratio", ["1", 1] as [Any], 1),
            ("price", doubles, 2), ("price", decimals, 3), ("price", [1, 2.5, true, NSDecimalNumber.notANumber, NSNull()] as [Any], 6),
            ("flag", [1.0, 2.5] as [Any], 10), ("flag", [NSDecimalNumber.zero, true] as [Any], 20), ("flag", [2.0, -1.0], 0),
        ] as [(String, [Any], Int)] {
            #expect(try count(stack, "\(key) IN %@", [list]) == wanted, "\(key) IN \(list)")
            #expect(try count(stack, "NOT \(key) IN %@", [list]) == 24 - wanted, "NOT \(key) IN \(list)")
        }
    }

    /// Whatever the column's type, a list is looked up and not searched linearly.
    @Test(arguments: StoreKind.planning)
    func `A list may have dates, UUIDs, data and URIs`(kind: StoreKind) throws {
        let uuids = (0..<8).map { _ in UUID() }, dates = (0..<8).map { Date(timeIntervalSinceReferenceDate: Double($0) / 4) }
        let datas = (0..<8).map { Data(repeating: 7, count: $0) }, links = (0..<8).map { URL(string: "https://example.org/\($0)")! }
        let rows: [[String: Any]] = (0..<8).map { ["uuid": uuids[$0], "born": dates[$0], "data": datas[$0], "link": links[$0]] }
        let stack = try stack(kind, ["uuid", "born", "data", "link"], rows + [[:]])
        let far = Date(timeIntervalSinceReferenceDate: -.infinity), zero = Date(timeIntervalSinceReferenceDate: -0.0)
        for (key, list, wanted) in [
            ("uuid", Array(uuids.prefix(3)) + [uuids[0], UUID()], 3), ("uuid", [uuids[7], NSNull()] as [Any], 2), ("uuid", [], 0),
            ("uuid", [UUID()], 0), ("uuid", [NSNull()], 1),
            ("uuid", [uuids[1], "x", 3] as [Any], 1), ("born", Array(dates.suffix(4)) + [dates[7]], 4), ("born", [zero, far], 1),
            ("born", [dates[2], NSNull()] as [Any], 2), ("born", [], 0),
            ("born", [dates[2], "x", 0.25] as [Any], 1), ("data", [Data(), Data([7]), Data([7]), Data([8])], 2),
            ("data", [datas[5], NSNull()] as [Any], 2), ("data", [], 0),
            ("data", [datas[5], "x"] as [Any], 1), ("link", [links[0], links[3], links[3], URL(string: "https://example.org/")!], 2),
            ("link", [links[0].absoluteString, links[1]] as [Any], 2),
            ("link", [links[0], NSNull()] as [Any], 2), ("link", [links[6], 4] as [Any], 1), ("link", [], 0),
        ] as [(String, [Any], Int)] {
            #expect(try count(stack, "\(key) IN %@", [list]) == wanted, "\(key) IN \(list)")
            #expect(try count(stack, "NOT \(key) IN %@", [list]) == 9 - wanted, "NOT \(key) IN \(list)")
        }
    }

    @Test(arguments: StoreKind.planning)
    func `Objects can be compared by their IDs`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let groups = (0..<3).map { stack.insert("Group", ["title": "g\($0)"]) }, people = (0..<12).map {
            stack.insert("Person", ["name": "p\($0)"])
        }
        for (number, person) in people.enumerated() where number % 4 < 3 { person.setValue(groups[number % 4], forKey: "group") }
        try stack.context.save()
        let ids = people.prefix(5).map(\.objectID), unsaved = stack.newContext(), other = stack.insert("Person", [:], into: unsaved).objectID
        for (format, argument, wanted) in [
            ("objectID == %@", ids[0], 1), ("objectID != %@", ids[0], 11), ("objectID IN %@", ids, 5), ("SELF IN %@", ids, 5),
            ("self IN %@", Array(people.prefix(3)), 3),
            ("NOT objectID IN %@", ids + [other], 7), ("objectID IN %@", [other], 0), ("%@ == objectID", people[2], 1),
            ("objectID IN %@", [] as [Any], 0),
            ("group.objectID == %@", groups[1].objectID, 3), ("group.objectID != %@", groups[1], 9),
            ("group.objectID IN %@", [groups[0], groups[2].objectID] as [Any], 6), ("partner.objectID == %@", ids[0], 0),
        ] as [(String, Any, Int)] {
            #expect(try count(stack, format, [argument], of: "Person") == wanted, "\(format)")
        }
        for (format, argument) in [("ANY people.objectID == %@", ids[1]), ("ANY people.objectID IN %@", [ids[1]])] as [(String, Any)] {
            #expect(try count(stack, format, [argument], of: "Group") == 1, "\(format)")
        }
    }

    /// The comparison of a decimal and a double must not use their conversions, which lose the last digits.
    @Test(arguments: StoreKind.recordLogs)
    func `Every access path finds the doubles that equal a decimal`(kind: StoreKind) throws {
        var random = SeededGenerator(seed: 5)
        let ratios = (0..<40).map { Double.random(in: -1000...1000, using: &random) * pow(10, Double($0 * 2 - 40)) }
        let prices = try ratios.map { NSDecimalNumber(decimal: try #require(Decimal(finite: $0))) }
        let keys = ["ratio", "ratio / 1", "price", "price + 0"]
        let stack = try stack(kind, keys, zip(ratios, prices).map { ["ratio": $0, "price": $1] })
        let all = try stack.fetch("Sample")
        for (ratio, price) in zip(ratios, prices) {
            for (format, argument) in [
                ("ratio IN %@", [price]), ("ratio / 1 == %@", price), ("ratio / 1 <= %@", price), ("ratio / 1 > %@", price),
                ("price IN %@", [ratio]),
                ("price + 0 == %@", ratio), ("price + 0 >= %@", ratio), ("price + 0 < %@", ratio), ("price + 0 IN %@", [ratio]),
            ] as [(String, Any)] {
                let predicate = NSPredicate(format: format, argumentArray: [argument])
                let wanted = Set(all.filter { predicate.evaluate(with: $0) })
                for tuning in [QueryTuning(), QueryTuning(access: .scan)] + keys.map({ QueryTuning(access: .index("index:\($0)")) }) {
                    let found = try QueryTuning.with(tuning) { try stack.fetch("Sample", format, [argument]) }
                    #expect(Set(found) == wanted, "\(predicate) by \(tuning): \(found.count), memory \(wanted.count)")
                }
            }
        }
    }
}
