import Foundation
import Testing

@testable import Heartwood

/// Key paths that no model has: with thousands of keys, and with empty ones.
@Suite struct KeyPathLengthTests {
    private static func path(_ count: Int, _ last: String) -> String {
        (Array(repeating: "boss", count: count - 1) + [last]).joined(separator: ".")
    }

    private func requests(_ path: String) -> [NSFetchRequest<any NSFetchRequestResult>] {
        func request(_ change: (NSFetchRequest<any NSFetchRequestResult>) -> Void) -> NSFetchRequest<any NSFetchRequestResult> {
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Sample")
            change(request)
            return request
        }
        return [
            request { $0.sortDescriptors = [NSSortDescriptor(key: path, ascending: true)] },
            request { $0.relationshipKeyPathsForPrefetching = [path] },
            request { ($0.resultType, $0.propertiesToFetch) = (.dictionaryResultType, [path]) },
            request {
                $0.predicate = NSComparisonPredicate(
                    leftExpression: NSExpression(forKeyPath: path), rightExpression: NSExpression(forConstantValue: nil), modifier: .direct, type: .equalTo)
            },
        ]
    }

    @Test
    func `A format with a long path is refused with its position`() throws {
        for path in [Self.path(65, "name"), Self.path(20_000, "name")] {
            let error = try #require(
                #expect(throws: PredicateFormatError.self) { try PredicateParser.parse("age = 1 AND \(path) = 'x'", arguments: []) })
            #expect("\(error)".contains("more than 64 keys"))
            #expect(throws: PredicateFormatError.self) { try PredicateParser.parse("%K = 'x'", arguments: [path]) }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `No fetch follows a path that is too long`(kind: StoreKind) throws {
        let stack = try SampleGraph.stack(kind)
        for count in [65, 20_000] {
            for (index, request) in (requests(Self.path(count, "boss")) + requests(Self.path(count, "name"))).enumerated() {
                let error = try #require(#expect(throws: NSError.self, "request \(index)") { _ = try stack.context.fetch(request) })
                #expect(
                    error.code == NSPersistentStoreUnsupportedRequestTypeError && error.localizedDescription.contains("more than 64 keys"),
                    "\(index): \(error)")
            }
        }
    }

    /// In a debug build, whose stack frames are the largest.
    @Test(arguments: StoreKind.allCases)
    func `The longest path fits the stack of a small thread`(kind: StoreKind) throws {
        // Used by one thread at a time.
        nonisolated(unsafe) let stack = try SampleGraph.stack(kind)
        nonisolated(unsafe) var failure: (any Error)?
        let done = DispatchSemaphore(value: 0)
        let thread = Thread {
            defer { done.signal() }
            do {
                let wanted = requests(Self.path(64, "boss"))[1...1] + requests(Self.path(64, "name"))[0...0]
                    + requests(Self.path(64, "name"))[2...3]
                for request in wanted { _ = try stack.context.fetch(request) }
                let predicate = NSPredicate(format: "\(Self.path(64, "name")) == 'x'")
                let bosses = (0..<63).reduce(["name": "x"] as [String: Any]) { boss, _ in ["boss": boss] }
                #expect(predicate.evaluate(with: bosses))
            } catch {
                failure = error
            }
        }
        thread.stackSize = 512 << 10
        thread.start()
        done.wait()
        #expect(failure == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `An empty key is refused`(kind: StoreKind) throws {
        let stack = try SampleGraph.stack(kind)
        for path in [".", "..", "boss.", ".boss", "boss..boss"] {
            for (index, request) in requests(path).dropLast().enumerated() {
                let error = try #require(#expect(throws: NSError.self, "\(path), request \(index)") { _ = try stack.context.fetch(request) })
                #expect(error.localizedDescription.contains("a key is empty"), "\(error)")
            }
        }
    }
}
