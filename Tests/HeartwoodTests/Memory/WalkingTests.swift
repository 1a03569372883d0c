import Foundation
import HeartwoodTestSupport
import Testing

@_spi(GeneratedCode) @testable import Heartwood

/// A function of the standard library, which does not export it publicly.
@_silgen_name("$ss36_class_getInstancePositiveExtentSizeySiyXlXpF")
private func instanceSize(_ type: AnyClass) -> Int

@Suite struct WalkingTests {
    private static let count = 100_000

    /// The sum of this many items' numbers.
    private static func sum(_ count: Int) -> Int64 { Int64(count) * Int64(count - 1) / 2 }

    @Test(arguments: StoreKind.recordLogs)
    func `Iterating over a hundred thousand objects holds one batch of them`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: WalkedStore.model())
        try WalkedStore.fill(stack, count: Self.count)
        for way in WalkedStore.Way.allCases {
            let context = stack.newContext()
            let count = way == .offset ? Self.count : 2 * WalkedStore.batch
            var most = 0, bytes = 0, sum: Int64 = 0
            try way.walk(context, count: count) {
                most = max(most, context.identities.count)
                bytes = max(bytes, context.identities.byteCount)
            } _: { sum += $0 }
            #expect(sum == Self.sum(count), "\(way)")
            #expect(most <= WalkedStore.batch + 1024, "\(way)")
            #expect(bytes <= 32 * 2 * most, "\(way): the table is not larger than its objects want")
        }
    }

    /// One result array retains its objects as long as it exists; reading and refreshing them adds nothing.
    @Test(arguments: StoreKind.recordLogs)
    func `Refreshing leaves no memory beside an object`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: WalkedStore.model())
        try WalkedStore.fill(stack, count: 5000)
        let items = try stack.fetch("Item")
        var sum: Int64 = 0
        for item in items {
            sum += item.managedInteger(at: 0) ?? -1
            if item.managedString(at: 1) == nil { sum = 0 }
            stack.context.refresh(item, mergeChanges: false)
        }
        #expect(sum == Self.sum(5000))
        #expect(items.allSatisfy { $0.storage == nil && $0.rowBody == nil && $0.isFault })
        #expect(stack.context.identities.count == 5000 && stack.context.pending.listed.isEmpty && stack.context.readState.memory.files.count == 1)
    }

    @Test(arguments: StoreKind.recordLogs)
    func `A predicate that no row can answer is evaluated on a few objects at a time`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: WalkedStore.model())
        try WalkedStore.fill(stack, count: 5000)
        #expect(try stack.fetch("Item", "mood == 1").isEmpty)
        #expect(stack.context.identities.count <= 1024)
    }

    /// The members of consecutive relationships are read without a fetch, which would sweep.
    @Test(arguments: StoreKind.recordLogs)
    func `Iterating over relationships releases the objects that were seen`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        let groups = (0..<8).map { stack.insert("Group", ["title": "\($0)"]) }
        for number in 0..<4000 { stack.insert("Person", ["group": groups[number % 8]]) }
        try stack.context.save()
        let context = stack.newContext()
        var count = 0, most = 0
        for group in groups {
            let people = context.object(with: group.objectID).value(forKey: "people") as? NSSet
            for case let person as Person in people?.allObjects ?? [] {
                count += person.age
            }
            most = max(most, context.identities.count)
        }
        #expect(count == 4000 && most < 2000)
    }

    @Test(arguments: StoreKind.recordLogs)
    func `An unchanged object costs at most 112 bytes`(kind: StoreKind) throws {
        let stack = try TestStack(kind)
        for number in 0..<3000 { stack.insert("Tag", ["label": "\(number)"]) }
        try stack.context.save()
        let context = stack.newContext()
        let tags = try stack.fetch("Tag", in: context)
        #expect(context.identities.checkInvariants() && tags.allSatisfy { $0.storage == nil })
        // glibc's allocator adds 8 bytes to each allocation, whose size is a multiple of 16.
        let own = (instanceSize(NSManagedObject.self) + 8 + 15) & ~15
        #expect(own == 80)
        let map = IdentityMap()
        var most = 0.0
        for (index, tag) in tags.enumerated() {
            map.insert(tag, for: tag.key)
            if index > 100 { most = max(most, Double(own) + Double(map.byteCount) / Double(map.count)) }
        }
        #expect(most > 100 && most <= 112)
    }

    private static let path = "HEARTWOOD_WALK_PATH"
    private static let long = ProcessInfo.processInfo.environment["HEARTWOOD_WALK_OBJECTS"].flatMap(Int.init)

    /// The long form.
    @Test(.enabled(if: long != nil))
    func `Iterating over a store of many millions takes a few megabytes`() async throws {
        let count = try #require(Self.long)
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-walk-\(UUID().uuidString).heartwood")
        setenv(Self.path, url.path, 1)
        // In a process of its own, whose memory is freed afterwards.
        await #expect(processExitsWith: .success) {
            let url = URL(fileURLWithPath: ProcessInfo.processInfo.environment[Self.path] ?? "")
            let stack = try TestStack(.recordLog, model: WalkedStore.model(), at: url)
            try WalkedStore.fill(stack, count: Self.long ?? 0)
            exit(0)
        }
        let before = ProcessMemory.kibibytes("RssAnon:") ?? 0
        let stack = try TestStack(.recordLog, model: WalkedStore.model(), at: url)
        // A fetch steps over the rows before its offset: five thousand million in all for ten million rows.
        for way in WalkedStore.Way.allCases where way != .offset || count <= 1_000_000 {
            let context = stack.newContext()
            var most = 0, sum: Int64 = 0
            let start = ContinuousClock.now
            try way.walk(context, count: count) { most = max(most, ProcessMemory.kibibytes("RssAnon:") ?? 0) } _: { sum += $0 }
            print("\(way): \(count) objects, \(ContinuousClock.now - start), \(most) KiB private at most, \(before) before,",
                "\(ProcessMemory.kibibytes("RssFile:") ?? 0) KiB of files")
            #expect(sum == Self.sum(count))
            #expect(most < 64 * 1024)
        }
    }
}
