import Foundation
import Testing

@testable import Heartwood

@Suite struct ModelLoadingTests {
    /// 90 entities in a ring, with 720 attributes, 180 relationships and 90 indexes.
    static let large: String = {
        let types = ["String", "Integer 64", "Date", "Boolean", "Double", "UUID", "Binary", "Decimal"]
        return (0..<90).map { number in
            let attributes = types.enumerated().map { index, type in
                "<attribute name=\"attribute\(index)\" optional=\"YES\" attributeType=\"\(type)\" usesScalarValueType=\"NO\"/>"
            }
            let next = "Entity\((number + 1) % 90)", last = "Entity\((number + 89) % 90)"
            return """
                <entity name="Entity\(number)" syncable="YES">
                \(attributes.joined(separator: "\n"))
                <relationship name="next" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="\(next)" inverseName="previous" inverseEntity="\(next)"/>
                <relationship name="previous" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="\(last)" inverseName="next" inverseEntity="\(last)"/>
                <fetchIndex name="byFirst"><fetchIndexElement property="attribute0" type="Binary" order="ascending"/></fetchIndex>
                </entity>
                """
        }.joined(separator: "\n")
    }()

    /// The bound is for a release build, which Benchmarks measures too. Unoptimized code and sanitizers are about ten times as slow, and share the
    /// machine with other tests.
    @Test
    func `A large model loads in time`() throws {
        #if DEBUG || THREAD_SANITIZER || ADDRESS_SANITIZER
            let bound = 1.5
        #else
            let bound = 0.02
        #endif
        let compiled = CompiledModelWriter.bytes(try ModelTests.load(Self.large))
        var best = Double.infinity, bestCompiled = Double.infinity
        for _ in 0..<3 {
            let start = ContinuousClock.now
            #expect(try ModelTests.load(Self.large).entities.count == 90)
            let middle = ContinuousClock.now
            let model = try ModelBuilder(try CompiledModelReader(compiled, path: "A.mom").read()).build(into: nil)
            bestCompiled = min(bestCompiled, (ContinuousClock.now - middle) / .seconds(1))
            best = min(best, (middle - start) / .seconds(1))
            #expect(model.entities.map(\.properties.count).reduce(0, +) == 90 * 10)
        }
        #expect(best < bound && bestCompiled < bound, "XML \(best) s, compiled \(bestCompiled) s")
    }
}
