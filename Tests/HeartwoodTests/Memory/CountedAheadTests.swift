import Testing

@testable import Heartwood

@Suite struct CountedAheadTests {
    private final class Counted {
        let whenGone: () -> Void

        init(_ whenGone: @escaping () -> Void) {
            self.whenGone = whenGone
        }

        deinit { whenGone() }
    }

    /// The object is released with the last reference that was taken, however many retains were left over.
    @Test
    func `Retains ahead are given away once and the rest is taken back`() {
        for taken in 0..<100 {
            var isGone = false
            var held: [Counted] = []
            do {
                let object = Counted { isGone = true }
                var ahead = CountedAhead(object)
                for _ in 0..<taken { held.append(ahead.take().takeRetainedValue()) }
            }
            #expect(isGone == (taken == 0), "\(taken)")
            while held.count > 1 { held.removeLast() }
            #expect(isGone == (taken == 0), "\(taken)")
            held = []
            #expect(isGone, "\(taken)")
        }
    }
}
