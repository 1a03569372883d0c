import Foundation
import RecordLog
import Testing

@testable import Heartwood

@Suite struct GroupTests {
    @Test(arguments: StoreKind.planning)
    func `Aggregates are over the group`(kind: StoreKind) throws {
        let stack = try SampleGraph.stack(kind), reader = stack.newContext()
        let request = TestStack.dictionaries(
            "Sample", ["flag", "n = count:(SELF)", "named = @count", "ages = count:(age)", "total = sum:(bits)", "mean = average:(age)"],
            by: ["flag"], sort: [("flag", true)])
        #expect(texts(try reader.fetch(request)) == [
            "ages 1, mean 50, n 1, named 1, total 0", "ages 2, flag 0, mean 20, n 2, named 2, total 261",
            "ages 1, flag 1, mean 30, n 2, named 2, total 4",
        ])
        #expect(reader.registeredCount == 0 && reader.lastQuery.rowsVisited == 5)
        let more = TestStack.dictionaries("Sample", [
            "@min.age", "@max.born", "@sum.price", "least = min:(name)", "weights = sum:(tags.@sum.weight)", "heaviest = max:(tags.weight)",
            "tagged = count:(tags)", "middle = median:(bits)", "spread = stddev:(age)", "bossed = count:(boss)", "elder = max:(boss.age) + 1",
        ])
        #expect(texts(try reader.fetch(more)) == [
            "@max.born 1000000.0, @min.age 0, @sum.price 1011.25, bossed 4, elder 51, heaviest 10, least Ada, middle 5, "
                + "spread 18.7082869, tagged 7, weights 22",
        ])
        #expect(try reader.fetch(more)[0]["@max.born"] is Date && reader.fetch(more)[0]["@sum.price"] is NSDecimalNumber)
    }

    @Test(arguments: StoreKind.allCases)
    func `An operator behind a to-many relationship is over the members of the whole group`(kind: StoreKind) throws {
        let stack = try SampleGraph.stack(kind), reader = stack.newContext()
        let request = TestStack.dictionaries(
            "Sample",
            [
                "flag", "tags.@count", "tags.@sum.weight", "tags.@min.weight", "n = count:(tags)", "sum = sum:(tags.weight)",
                "least = min:(tags.weight)",
            ],
            by: ["flag"], sort: [("flag", true)])
        let rows = try reader.fetch(request)
        #expect(rows.count == 3 && rows.compactMap { $0["tags.@count"] as? Int64 }.reduce(0, +) == 7)
        for row in rows {
            #expect(row["tags.@count"] as? NSNumber == row["n"] as? NSNumber && row["tags.@min.weight"] as? NSNumber == row["least"] as? NSNumber)
            #expect((row["tags.@sum.weight"] as? NSNumber)?.doubleValue == (row["sum"] as? NSNumber)?.doubleValue)
        }
        let mean = TestStack.dictionaries("Sample", ["flag", "tags.@avg.weight"], by: ["flag"])
        #expect(throws: NSError.self) { _ = try reader.fetch(mean) }
    }

    @Test(arguments: StoreKind.allCases)
    func `Groups are filtered, sorted and cut`(kind: StoreKind) throws {
        let stack = try SampleGraph.stack(kind)
        let request = TestStack.dictionaries(
            "Sample", ["boss.name", "n = count:(id)", "top = max:(bits)"], by: ["boss.name"], sort: [("n", false), ("boss.name", true)])
        #expect(texts(try stack.context.fetch(request)) == [
            "boss.name Ada, n 2, top 6", "n 1, top 5", "boss.name Cy, n 1, top -1", "boss.name ada, n 1, top 255",
        ])
        request.havingPredicate = NSPredicate(format: "count:(id) = 1 AND boss.name != nil")
        #expect(texts(try stack.context.fetch(request)) == ["boss.name Cy, n 1, top -1", "boss.name ada, n 1, top 255"])
        // A fetched expression can be referred to by its name.
        request.havingPredicate = NSPredicate(format: "$n = 1 AND %@ > -1", NSExpression(forVariable: "top"))
        #expect(texts(try stack.context.fetch(request)) == ["n 1, top 5", "boss.name ada, n 1, top 255"])
        request.fetchOffset = 1
        request.fetchLimit = 1
        #expect(texts(try stack.context.fetch(request)) == ["boss.name ada, n 1, top 255"])
        #expect(try stack.context.count(for: request) == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `Without groups an aggregate stands beside what each object has`(kind: StoreKind) throws {
        let stack = try TestStack(kind), context = stack.context
        for (name, age) in [("a", 1), ("b", 2), ("c", nil), ("d", 2), ("e", 4)] as [(String, Int?)] {
            stack.insert("Person", ["name": name]).setValue(age, forKey: "age")
        }
        func make(_ fetch: [String], where format: String? = nil, sort: [(String, Bool)] = [("name", true)]) -> NSFetchRequest<NSDictionary> {
            TestStack.dictionaries("Person", fetch, where: format, sort: sort)
        }
        #expect(try context.fetch(make(["name", "n = sum:(age)"])).isEmpty, "of the store alone")
        try context.save()
        #expect(texts(try context.fetch(make(["name", "n = sum:(age)"]))) == ["a", "b", "c", "d", "e"].map { "n 9, name \($0)" })
        #expect(texts(try context.fetch(make(["name", "n = sum:(age)"], where: "age > 1"))) == ["b", "d", "e"].map { "n 8, name \($0)" })
        // An expression of a value and an aggregate; whatever the limit, the aggregate is over all objects.
        let share = make(["name", "share = age * 10 / sum:(age)"], where: "age != nil", sort: [("share", false), ("name", true)])
        share.fetchLimit = 2
        #expect(texts(try context.fetch(share)) == ["name e, share 4", "name b, share 2"])
        #expect(try context.count(for: share) == 2)
        #expect(try context.fetch(make(["name", "n = @count"], where: "age > 9")).isEmpty)
        let text = NSFetchRequest<NSDictionary>(entityName: "Person")
        text.resultType = .dictionaryResultType
        text.propertiesToFetch = [TestStack.expression("n", "sum:(age)", .stringAttributeType)]
        #expect(try context.fetch(text)[0]["n"] as? String == "9.0")
    }

    @Test(arguments: StoreKind.allCases)
    func `Each value counts once in an aggregate of distinct ones`(kind: StoreKind) throws {
        let stack = try TestStack(kind), context = stack.context
        for (name, age) in [("a", 1), ("a", 2), ("a", nil), ("b", 2), ("b", 2), ("b", 4)] as [(String, Int?)] {
            stack.insert("Person", ["name": name]).setValue(age, forKey: "age")
        }
        try context.save()
        let all = TestStack.dictionaries(
            "Person", ["n = count:(distinct:(age))", "s = sum:(distinct:(age))", "t = count:(distinct:(name))", "u = count:(age)"])
        #expect(texts(try context.fetch(all)) == ["n 3, s 7, t 2, u 5"])
        let grouped = TestStack.dictionaries(
            "Person", ["name", "n = count:(distinct:(age))", "m = average:(distinct:(age))"], by: ["name"], sort: [("name", true)])
        #expect(texts(try context.fetch(grouped)) == ["m 1.5, n 2, name a", "m 3, n 2, name b"])
        grouped.havingPredicate = NSPredicate(format: "sum:(distinct:(age)) > 5")
        #expect(texts(try context.fetch(grouped)) == ["m 3, n 2, name b"])
        let built = NSExpression(
            forFunction: "count:", arguments: [NSExpression(forFunction: "distinct:", arguments: [NSExpression(forConstantValue: [1, 1, 2, 1.0])])])
        #expect(built.expressionValue(with: nil, context: nil) as? Int == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func `Groups are sorted by what they are not grouped by, of which each has one value`(kind: StoreKind) throws {
        let stack = try TestStack(kind), context = stack.context
        for (name, age) in [("z", 1), ("m", 2), ("z", 1), ("a", 3)] { stack.insert("Person", ["name": name, "age": age]) }
        try context.save()
        for (ascending, wanted) in [(true, ["age 3", "age 2", "age 1"]), (false, ["age 1", "age 2", "age 3"])] {
            #expect(texts(try context.fetch(TestStack.dictionaries("Person", ["age"], by: ["age"], sort: [("name", ascending)]))) == wanted)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `Keys may be relationships, expressions and of subentities`(kind: StoreKind) throws {
        let stack = try SampleGraph.stack(kind)
        let bosses = try stack.context.fetch(TestStack.dictionaries("Sample", ["boss", "n = @count"], by: ["boss"], having: "$n > 1"))
        #expect(
            bosses.count == 1
                && (bosses[0]["boss"] as? NSManagedObjectID).map { stack.context.object(with: $0).value(forKey: "id") as? String } == "a")
        #expect(texts(try stack.context.fetch(TestStack.dictionaries("Sample", by: ["extra"], sort: [("extra", true)]))) == ["", "extra x"])
        let lengths = TestStack.dictionaries("Sample", ["length = length:(name)", "n = @count"], by: ["length"], sort: [("length", true)])
        #expect(texts(try stack.context.fetch(lengths)) == ["length 2, n 1", "length 3, n 3", "length 6, n 1"])
        lengths.propertiesToGroupBy = [TestStack.expression("anything", "length:(name)")]
        lengths.sortDescriptors = [NSSortDescriptor(key: "n", ascending: false), NSSortDescriptor(key: "length", ascending: true)]
        #expect(texts(try stack.context.fetch(lengths)) == ["length 3, n 3", "length 2, n 1", "length 6, n 1"])
        let property = try #require(stack.coordinator.managedObjectModel.entitiesByName["Sample"]?.propertiesByName["flag"])
        let described = TestStack.dictionaries("Sample", sort: [("flag", true)])
        described.propertiesToFetch = [property, TestStack.expression("n", "@count")]
        described.propertiesToGroupBy = [property]
        #expect(texts(try stack.context.fetch(described)) == ["n 1", "flag 0, n 2", "flag 1, n 2"])
    }

    @Test(arguments: StoreKind.allCases)
    func `No objects make one group without keys and none with keys`(kind: StoreKind) throws {
        let stack = try SampleGraph.stack(kind)
        let request = TestStack.dictionaries(
            "Sample", ["n = @count", "total = sum:(age)", "most = max:(age)", "mean = average:(age)"], where: "age > 1000")
        #expect(texts(try stack.context.fetch(request)) == ["n 0, total 0"])
        #expect(try stack.context.count(for: request) == 1)
        request.propertiesToGroupBy = ["name"]
        #expect(try stack.context.fetch(request).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `Sums continue beyond whole numbers`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        for _ in 0..<3 { stack.insert("Everything", ["int64": Int64.max, "double": 0.5]) }
        try stack.context.save()
        let request = TestStack.dictionaries("Everything", ["a = sum:(int64)", "b = sum:(int64 + double)", "c = average:(int64)"])
        let found = try #require(try stack.context.fetch(request).first)
        for key in ["a", "b"] { #expect(found[key] as? Double == 3 * 0x1p63) }
        #expect(found["c"] as? Double == 0x1p63)
    }

    /// The view computes all of it from row bytes; no object is made.
    @Test(arguments: StoreKind.planning)
    func `Rows answer the usual requests`(kind: StoreKind) throws {
        let stack = try SampleGraph.stack(kind)
        let requests = [
            TestStack.dictionaries("Sample"),
            TestStack.dictionaries("Sample", ["name", "boss.boss.name", "boss", "objectID", "extra", "tags.@max.weight"]),
            TestStack.dictionaries("Sample", ["n = sum:(boss.age * 2)", "m = count:(team)", "extra"], by: ["extra"]),
        ]
        for request in requests {
            let fetch = try FetchSpecification(request, context: stack.context), shape = try #require(fetch.shape)
            let (store, query) = try #require(try stack.context.storeQueries(for: fetch).first)
            var count = 0
            let sink = ResultSink(shape, limit: nil, offset: 0) { _ in
                count += 1
                return true
            }
            #expect(try stack.context.view(of: store).tabulate(query, shape, into: sink) != nil)
            #expect(count > 0)
        }
    }

    @Test
    func `A table of groups numbers each key once`() {
        let table = GroupTable(), key = KeyBuilder()
        for round in 0..<2 {
            for number in 0..<5000 {
                key.removeAll()
                if number > 0 { key.append(text: String(repeating: "x", count: number % 40) + "\(number)") }
                let found = table.number(of: key.unsafeBuffer)
                #expect(found.number == number && found.isNew == (round == 0))
            }
        }
        #expect(table.count == 5000)
    }
}
