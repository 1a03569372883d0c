import Foundation
import RecordLog
import Testing

@testable import Heartwood

@Suite struct StoreOptionTests {
    @Test func aStoreIsReadInPlaceOfBeingMapped() throws {
        for mapping in [false, true] {
            let stack = try TestStack(.recordLog, options: [NSRecordLogMemoryMappingOption: mapping])
            for number in 0..<5 { stack.insert("Person", ["name": "p \(number)"]) }
            try stack.context.save()
            let context = stack.newContext()
            #expect(try stack.fetch("Person", "name == %@", ["p 3"], in: context).count == 1)
            let statistics = try #require(stack.store.log).statistics
            #expect((statistics.bytesRead > 0) == !mapping)
        }
    }
}
