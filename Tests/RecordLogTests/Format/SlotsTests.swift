import Testing

@testable import RecordLog

struct SlotsTests {
    private final class Thing {}

    @Test
    func `A slot holds its object until another replaces it or it is cleared`() {
        weak var first: Thing?
        weak var second: Thing?
        weak var third: Thing?
        do {
            var slots = Slots<Thing>()
            #expect(slots.count == 0 && slots[0] == nil && slots.unretained(3) == nil)
            slots[7] = nil
            #expect(slots.count == 0)
            do {
                let things = [Thing(), Thing(), Thing()]
                (first, second, third) = (things[0], things[1], things[2])
                slots[2] = things[0]
                slots[40] = things[1]
                #expect(slots.count == 41 && slots[1] == nil && slots[2] === things[0] && slots[40] === things[1])
                slots[2] = things[2]
            }
            #expect(first == nil && second != nil && third != nil)
            slots[2] = nil
            #expect(third == nil && slots.count == 41 && slots.unretained(40)?.takeUnretainedValue() === second)
        }
        #expect(second == nil)
    }

    @Test
    func `An error thrown by a guaranteed body comes through`() throws {
        struct Refusal: Error {}
        let thing = Thing()
        let unmanaged = Unmanaged.passUnretained(thing)
        #expect(unmanaged.guaranteed { $0 === thing })
        #expect(throws: Refusal.self) { try unmanaged.guaranteed { (_: Thing) throws(Refusal) in throw Refusal() } }
    }
}
