import Foundation
import Testing

@testable import Heartwood

/// Each question gets the same answer from an SQLite store as from a record log with the same objects.
@Suite(.enabled(if: CoreDataStoreFiles.canBeMade, CoreDataStoreFiles.needPython)) struct SQLiteTwinTests {
    private struct Question {
        let entity: String
        var format: String?
        var arguments: [Any] = []
        var change: (NSFetchRequest<any NSFetchRequestResult>) -> Void = { _ in }

        init(
            _ entity: String, _ format: String? = nil, _ arguments: [Any] = [],
            _ change: @escaping (NSFetchRequest<any NSFetchRequestResult>) -> Void = { _ in }
        ) {
            (self.entity, self.format, self.arguments, self.change) = (entity, format, arguments, change)
        }
    }

    /// More keepers, animals and notes, with each value beside nil.
    private static let more = """
        WITH RECURSIVE n (i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 49) INSERT INTO ZKEEPER SELECT i, 4, 1, NULL, NULL,
            CASE WHEN i % 5 = 0 THEN NULL ELSE i % 7 END, i * 1000000007, i % 2, i - 30, (i % 9) / 4.0, (i % 4) / 2.0, i % 3, i * 86400,
            'https://x.y/' || (i % 6), CASE i % 4 WHEN 0 THEN NULL WHEN 1 THEN '' ELSE 'Name ' || (i % 10) END, NULL, zeroblob(i % 3), NULL,
            CASE i % 3 WHEN 0 THEN NULL WHEN 1 THEN 'Ulm' ELSE 'Köln' END FROM n;
        WITH RECURSIVE n (i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 79) INSERT INTO ZANIMAL SELECT i, 1 + i % 3, 1,
            CASE WHEN i % 6 = 0 THEN NULL ELSE 10 + i % 20 END, CASE WHEN i % 6 = 0 THEN NULL ELSE 1024 * (100 - i) END,
            CASE WHEN i % 5 = 0 THEN NULL ELSE 'animal ' || (i % 11) END, CASE WHEN i % 3 = 1 THEN 'title ' || (i % 4) END,
            CASE WHEN i % 3 = 2 THEN i % 4 END FROM n;
        UPDATE ZKEEPER SET ZBEST = Z_PK + 20, Z1_BEST = 1 + (Z_PK + 20) % 3 WHERE Z_PK >= 10 AND Z_PK % 3 > 0;
        WITH RECURSIVE n (i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 29) INSERT INTO ZNOTE SELECT i, 5, 1,
            CASE WHEN i % 3 = 0 THEN NULL ELSE 10 + i % 5 END, 100 - i, 'note ' || i FROM n;
        INSERT INTO Z_4FRIENDS SELECT Z_PK, 10 + Z_PK * 7 % 30 FROM ZKEEPER WHERE Z_PK BETWEEN 10 AND 39;
        INSERT INTO Z_1HELPERS SELECT Z_PK, 10 + Z_PK % 30, 5000 - Z_PK FROM ZANIMAL WHERE Z_PK BETWEEN 10 AND 60;

        """

    private static func predicates() -> [(String, String, [Any])] {
        [
            ("Keeper", "SELF IN %@", [["@Keeper1", "@Keeper11", "@Keeper49"]]), ("Keeper", "SELF IN %@ AND age > 2", [["@Keeper11", "@Keeper12"]]),
            ("Keeper", "SELF == %@", ["@Keeper7"]), ("Keeper", "SELF != %@", ["@Keeper7"]),
            ("Keeper", "NOT (SELF IN %@)", [["#Keeper1", "#Keeper2"]]), ("Keeper", "SELF IN %@", [[Any]()]),
            ("Animal", "SELF IN %@", [["@Animal1", "@Dog3", "@Cat2"]]), ("Dog", "SELF IN %@", [["@Cat2", "@Dog3"]]),
            ("Keeper", "objectID == %@", ["#Keeper1"]), ("Animal", "keeper == %@", ["@Keeper1"]), ("Animal", "keeper == nil", []),
            ("Animal", "keeper IN %@", [["@Keeper1", "@Keeper12"]]), ("Animal", "keeper != %@", ["@Keeper12"]), ("Animal", "keeper.age > 3", []),
            ("Animal", "keeper.age == nil", []), ("Animal", "keeper.home.city == 'Ulm'", []), ("Animal", "keeper.best.name BEGINSWITH 'a'", []),
            ("Keeper", "best == %@", ["@Dog3"]), ("Keeper", "best.name ==[c] 'REX'", []), ("Keeper", "best == nil AND age != nil", []),
            ("Keeper", "ANY animals.name == 'animal 3'", []), ("Keeper", "ALL animals.name != nil", []), ("Keeper", "NONE animals.name == nil", []),
            ("Keeper", "age + animals.@count > 4", []), ("Animal", "keeper.age + 1 > 3", []), ("Keeper", "animals.@count > 2", []), ("Keeper", "animals.@count == 0", []), ("Keeper", "ANY friends.age > 4", []),
            ("Keeper", "%@ IN friends", ["@Keeper12"]), ("Keeper", "friends CONTAINS %@", ["@Keeper1"]),
            ("Keeper", "ANY friends == %@", ["@Keeper1"]), ("Keeper", "friends.@avg.age > 2", []), ("Keeper", "friends.@max.age == 6", []),
            ("Keeper", "helped.@count >= 2", []), ("Keeper", "SUBQUERY(animals, $a, $a.name == nil).@count > 0", []),
            ("Keeper", "SUBQUERY(friends, $f, $f.age > 2 AND $f.done == YES).@count > 0", []),
            ("Keeper", "SUBQUERY(helped, $h, $h.keeper == %@).@count > 0", ["@Keeper11"]), ("Keeper", "ANY notes.text CONTAINS '1'", []),
            ("Animal", "ANY helpers.name == ''", []), ("Animal", "helpers.@count == 1 AND keeper != nil", []),
            ("Animal", "entity.name == 'Dog'", []),
            ("Keeper", "name BEGINSWITH 'Name'", []), ("Keeper", "name ENDSWITH '7' OR name == nil", []), ("Keeper", "name LIKE 'N*[1-3]'", []),
            ("Keeper", "name LIKE 'Name ?'", []), ("Keeper", "name MATCHES 'Name [2-5]'", []), ("Keeper", "name IN {'Ann', '', 'Name 2'}", []),
            ("Keeper", "name BETWEEN {'A', 'Name 5'}", []), ("Keeper", "age BETWEEN {2, 4}", []), ("Keeper", "age IN {1, 5}", []),
            ("Keeper", "age + short > 10", []), ("Keeper", "age * 2 == big - big", []), ("Keeper", "abs(short) < 5", []),
            ("Keeper", "name.length > 4", []), ("Keeper", "price == 0.25", []), ("Keeper", "price > 1 AND price < 2", []),
            ("Keeper", "ratio == 0.5", []), ("Keeper", "score >= 1 AND score < 2", []),
            ("Keeper", "since > %@", [Date(timeIntervalSinceReferenceDate: 86400 * 40)]),
            ("Keeper", "since == %@", [Date(timeIntervalSinceReferenceDate: 86400 * 40)]), ("Keeper", "token == %@", [Zoo.uuid as Any]),
            ("Keeper", "link == %@", [URL(string: "https://x.y/3") as Any]), ("Keeper", "bytes == %@", [Data([0])]),
            ("Keeper", "home.city == 'Köln'", []), ("Keeper", "home.city ==[cd] 'koln'", []), ("Keeper", "done == YES", []),
            ("Keeper", "done == nil", []), ("Keeper", "home == nil", []), ("Keeper", "name == age", []), ("Keeper", "big == 9007199254740993", []),
            ("Keeper", "TRUEPREDICATE", []), ("Keeper", "FALSEPREDICATE", []), ("Keeper", "NOT (age > 2)", []),
            ("Keeper", "age > 2 OR (name == nil AND done == YES)", []), ("Keeper", "nothing == 3", []), ("Keeper", "best.nothing == 3", []),
            ("Cat", "title == 'title 2'", []), ("Dog", "title > 1", []), ("Animal", "title == 'x'", []), ("Note", "text == nil", []),
            ("Note", "text CONTAINS[cd] 'NOTE 2'", []), ("Keeper", "name ==[n] 'Name 3'", []),
            ("Keeper", "TERNARY(done == YES, age, short) > 3", []),
            ("Keeper", "FUNCTION(name, 'length') > 3", []), ("Keeper", "age == 1.5", []), ("Keeper", "short < -2147483649", []),
            ("Keeper", "CAST(age, 'NSString') == '3'", []), ("Keeper", "name < 'b'", []), ("Keeper", "image != nil", []),
        ]
    }

    private static func request(
        _ question: Question, _ twins: ZooTwins, _ context: NSManagedObjectContext
    ) throws -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: question.entity)
        request.predicate = try question.format.map { NSPredicate(format: $0, argumentArray: try twins.arguments(question.arguments, in: context)) }
        question.change(request)
        return request
    }

    private static func compare(_ questions: [Question], _ twins: ZooTwins) {
        for question in questions {
            let (file, log) = twins.answers { context in
                let request = try Self.request(question, twins, context)
                let found = try context.fetch(request), isOrdered = !(request.sortDescriptors ?? []).isEmpty
                let texts = found.map(twins.text)
                // Without a sort a store may give its objects in any order, and a limit takes any of them.
                let answer = isOrdered ? texts : request.fetchLimit > 0 ? ["\(texts.count)"] : texts.sorted()
                return [answer, try context.count(for: request)]
            }
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: question.entity)
            question.change(request)
            #expect(file == log, "\(question.entity) \(question.format ?? "") \(request)")
        }
    }

    private static func withTwins(_ body: (ZooTwins) throws -> Void) throws {
        try CoreDataStoreFiles.withFolder { try body(try ZooTwins(in: $0, more)) }
    }

    @Test
    func `Twins have the same objects`() throws {
        try Self.withTwins { twins in
            for entity in ["Keeper", "Animal", "Cat", "Dog", "Note"] {
                let (file, log) = twins.answers { context in
                    try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)).map { object in
                        let names = object.entity.propertiesByName.keys.sorted()
                        return [object] + names.map { [$0, twins.text(object.value(forKey: $0))] }
                    }
                }
                #expect(file == log && file.count > 500, "\(entity)")
            }
        }
    }

    @Test
    func `Each predicate finds the same objects, plain, sorted, limited, as IDs and counted`() throws {
        try Self.withTwins { twins in
            var questions: [Question] = []
            for (entity, format, arguments) in Self.predicates() {
                questions.append(Question(entity, format, arguments))
                let keys = entity == "Keeper" ? ["age", "name", "home.city"] : entity == "Note" ? ["text"] : ["name", "keeper.age"]
                for (index, key) in keys.enumerated() {
                    questions.append(Question(entity, format, arguments) { request in
                        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: index % 2 == 0)]
                        if index == 1 { (request.fetchOffset, request.fetchLimit) = (1, 3) }
                    })
                }
                questions.append(Question(entity, format, arguments) { request in
                    request.resultType = .managedObjectIDResultType
                    request.fetchLimit = 2
                })
                questions.append(Question(entity, format, arguments) { $0.includesSubentities = false })
            }
            Self.compare(questions, twins)
        }
    }

    private static func aggregate(_ function: String, _ key: String, _ type: NSAttributeType) -> NSExpressionDescription {
        let description = NSExpressionDescription()
        description.name = function.dropLast() + key
        description.expression = NSExpression(forFunction: function, arguments: [NSExpression(forKeyPath: key)])
        description.expressionResultType = type
        return description
    }

    @Test
    func `Dictionaries, distinct ones, aggregates and groups are the same`() throws {
        try Self.withTwins { twins in
            func dictionaries(_ change: @escaping (NSFetchRequest<any NSFetchRequestResult>) -> Void) -> [Question] {
                [nil, "age > 2", "name == nil", "FALSEPREDICATE", "ANY animals.name != nil"].map { format in
                    Question("Keeper", format) { request in
                        request.resultType = .dictionaryResultType
                        change(request)
                    }
                }
            }
            let byAge = NSSortDescriptor(key: "age", ascending: true), byName = NSSortDescriptor(key: "name", ascending: false)
            var questions = dictionaries { $0.propertiesToFetch = ["name", "age", "best", "home.city", "since", "price", "token", "link", "bytes"] }
            questions += dictionaries { ($0.propertiesToFetch, $0.returnsDistinctResults, $0.sortDescriptors) = (["name", "done"], true, [byName]) }
            questions += dictionaries { ($0.propertiesToFetch, $0.sortDescriptors, $0.fetchLimit) = (["best.name", "age"], [byAge, byName], 5) }
            questions += dictionaries { _ in }
            let functions: [(String, String, NSAttributeType)] = [
                ("sum:", "age", .integer64AttributeType), ("average:", "price", .decimalAttributeType), ("max:", "since", .dateAttributeType),
                ("min:", "name", .stringAttributeType), ("count:", "age", .integer64AttributeType), ("sum:", "ratio", .doubleAttributeType),
            ]
            let aggregates = functions.map { Self.aggregate($0.0, $0.1, $0.2) }
            questions += dictionaries { $0.propertiesToFetch = aggregates }
            questions += dictionaries { request in
                (request.propertiesToFetch, request.propertiesToGroupBy) = (["done"] as [Any] + aggregates, ["done"])
                request.sortDescriptors = [NSSortDescriptor(key: "done", ascending: true)]
            }
            questions += dictionaries { request in
                (request.propertiesToFetch, request.propertiesToGroupBy) = (["home.city", "done"] as [Any] + aggregates, ["home.city", "done"])
                request.sortDescriptors = [NSSortDescriptor(key: "home.city", ascending: true), NSSortDescriptor(key: "done", ascending: true)]
                request.havingPredicate = NSPredicate(format: "sum:(age) > 3")
            }
            questions += dictionaries { $0.resultType = .countResultType }
            Self.compare(questions, twins)
        }
    }

    @Test
    func `Ways of fetching give the same: batches, faults off, prefetching, subentities, several sort keys`() throws {
        try Self.withTwins { twins in
            let changes: [(NSFetchRequest<any NSFetchRequestResult>) -> Void] = [
                { $0.fetchBatchSize = 3 }, { $0.returnsObjectsAsFaults = false }, { $0.includesPropertyValues = false },
                { $0.relationshipKeyPathsForPrefetching = ["keeper", "helpers", "keeper.animals", "keeper.friends"] },
                { $0.includesSubentities = false }, { $0.propertiesToFetch = ["name"] }, { $0.shouldRefreshRefetchedObjects = true },
                { $0.includesPendingChanges = false }, { ($0.fetchOffset, $0.fetchLimit) = (70, 20) }, { $0.fetchOffset = 1000 },
            ]
            let sorts: [[NSSortDescriptor]] = [
                [], [NSSortDescriptor(key: "name", ascending: true)],
                [NSSortDescriptor(key: "keeper.name", ascending: false), NSSortDescriptor(key: "name", ascending: true)],
                [NSSortDescriptor(key: "name", ascending: true, textOrder: .localizedCaseInsensitive)],
            ]
            let questions = changes.flatMap { change in
                sorts.flatMap { sort in
                    ["Animal", "Dog"].map { entity in
                        Question(entity) { request in
                            request.sortDescriptors = sort
                            change(request)
                        }
                    }
                }
            }
            Self.compare(questions, twins)
        }
    }
}
