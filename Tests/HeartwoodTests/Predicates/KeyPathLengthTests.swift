import Foundation
import Testing

@testable import Heartwood

/// Key paths as long as is allowed, longer ones, and ones with empty keys.
@Suite struct KeyPathLengthTests {
    private func path(_ count: Int, end: String = "boss") -> String {
        (Array(repeating: "boss", count: count - 1) + [end]).joined(separator: ".")
    }

    private let longest = PredicateKeyPath.lengthMax

    private func refusal(of stack: TestStack, _ change: (NSFetchRequest<NSManagedObject>) -> Void) throws -> String {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Sample")
        change(request)
        let error = try #require(#expect(throws: NSError.self) { _ = try stack.context.fetch(request) })
        #expect(error.code == NSPersistentStoreUnsupportedRequestTypeError)
        return error.localizedDescription
    }

    /// Threads that are not the first have as little.
    private func onASmallStack(_ body: @escaping @Sendable () throws -> Void) throws {
        let done = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var failure: (any Error)?
        let thread = Thread {
            do { try body() } catch { failure = error }
            done.signal()
        }
        thread.stackSize = 512 << 10
        thread.start()
        done.wait()
        if let failure { throw failure }
    }

    @Test func aFormatWithALongerKeyPathIsRefusedAtTheKey() throws {
        _ = try PredicateParser.parse(path(longest) + " == nil", arguments: [])
        let error = #expect(throws: PredicateFormatError.self) { try PredicateParser.parse(path(20_000) + " == nil", arguments: []) }
        #expect(error?.message == "a key path has more than 256 keys" && error?.position == longest * 5)
        for format in ["%K == nil", "$x.%K == nil", "boss.%K == nil", "(boss).%K == nil"] {
            let error = #expect(throws: PredicateFormatError.self) { try PredicateParser.parse(format, arguments: [path(longest + 1)]) }
            #expect(error?.message == "a key path has more than 256 keys")
        }
        #expect(throws: PredicateFormatError.self) { try PredicateParser.parse("(\(path(200))).\(path(200)) == nil", arguments: []) }
    }

    @Test(arguments: StoreKind.allCases)
    func aFetchRefusesALongerKeyPathWhereverItStands(kind: StoreKind) throws {
        let stack = try SampleGraph.stack(kind), long = path(20_000)
        #expect(try refusal(of: stack) { $0.sortDescriptors = [NSSortDescriptor(key: long, ascending: true)] }.hasSuffix("a key path has more than 256 keys."))
        #expect(try refusal(of: stack) { $0.relationshipKeyPathsForPrefetching = [long] }.hasSuffix("a key path has more than 256 keys."))
        #expect(try refusal(of: stack) { $0.propertiesToFetch = [long] }.hasSuffix("a key path has more than 256 keys."))
        let made = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: long), rightExpression: NSExpression(forConstantValue: nil), modifier: .direct, type: .equalTo)
        #expect(try refusal(of: stack) { $0.predicate = made }.hasSuffix("a key path has more than 256 keys"))
    }

    @Test(arguments: StoreKind.planning)
    func theLongestKeyPathNeedsNoLargeStack(kind: StoreKind) throws {
        let name = path(longest, end: "name"), boss = path(longest), bosses = path(longest - 1)
        try onASmallStack {
            let stack = try SampleGraph.stack(kind)
            let a = try #require(try stack.fetch("Sample", "id == 'a'").first)
            a.setValue(a, forKey: "boss")
            try stack.context.save()
            for context in [stack.context, stack.newContext()] {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Sample")
                for format in ["\(name) == 'Ada'", "\(name) + '' == 'Ada'", "ANY \(bosses).team == nil", "length(\(name)) == 3", "ALL team.\(bosses) != nil"] {
                    request.predicate = try? NSPredicate(parsing: format)
                    let found = try context.fetch(request)
                    #expect(format.hasPrefix("A") || found.count == 5 || format.contains("+"), "\(format)")
                }
                request.predicate = nil
                request.sortDescriptors = [NSSortDescriptor(key: name, ascending: true)]
                request.relationshipKeyPathsForPrefetching = [boss]
                #expect(try context.fetch(request).count == 5)
                let dictionaries = TestStack.dictionaries("Sample", ["id", name, "x = length:(\(name))"])
                #expect(try context.fetch(dictionaries).allSatisfy { $0["x"] as? Int == 3 })
            }
            #expect(a.value(forKeyPath: name) as? String == "Ada")
            #expect(NSPredicate(format: "\(name) == 'Ada'").evaluate(with: a))
            #expect(!NSPredicate(format: "ANY team.\(bosses) == nil").evaluate(with: a))
        }
        try onASmallStack {
            let dictionary = NSMutableDictionary()
            (dictionary["boss"], dictionary["name"]) = ([dictionary], "Ada")
            #expect(NSPredicate(format: "ANY \(name) == 'Ada'").evaluate(with: dictionary))
            #expect(NSPredicate(format: "\(bosses).@count == 1").evaluate(with: dictionary))
            dictionary["boss"] = nil
        }
    }

    @Test(arguments: StoreKind.allCases)
    func emptyKeysAreRefused(kind: StoreKind) throws {
        let stack = try SampleGraph.stack(kind)
        for key in [".", "..", "name.", ".name", "boss..name"] {
            let says = "\"\(key)\": a key in \"\(key)\" is empty."
            #expect(try refusal(of: stack) { $0.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)] } == "Sample cannot be sorted by \(says)")
            #expect(try refusal(of: stack) { $0.relationshipKeyPathsForPrefetching = [key] } == "Sample cannot prefetch \(says)")
            #expect(try refusal(of: stack) { $0.propertiesToFetch = [key] } == "Sample cannot give \(says)")
            let made = NSComparisonPredicate(
                leftExpression: NSExpression(forKeyPath: key), rightExpression: NSExpression(forConstantValue: nil), modifier: .direct, type: .equalTo)
            #expect(try refusal(of: stack) { $0.predicate = made }.hasSuffix("a key in \"\(key)\" is empty"))
        }
    }
}
