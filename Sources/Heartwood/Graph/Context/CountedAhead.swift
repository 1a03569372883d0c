/// Retains one object many times in advance.
///
/// An initializer consumes a reference to each of its arguments, and each stored reference is one more. Counting them one by one takes an
/// eighth of the time to make a fetched object. Swift has no call that retains an object several times, but LLVM's pass for Swift's reference
/// counts joins consecutive retains into one atomic operation, `swift_retain_n`: seen with Swift 6.3.1. `.ci/coalesced-retains` fails with a
/// compiler that does not.
///
/// Invariant: `left` references to the object are counted and not yet given away.
struct CountedAhead<Object: AnyObject>: ~Copyable {
    private let object: Unmanaged<Object>
    private var left = 0
    private var isFirst = true

    init(_ object: Object) {
        self.object = Unmanaged.passUnretained(object)
    }

    deinit {
        for _ in 0..<left / 4 {
            object.release()
            object.release()
            object.release()
            object.release()
        }
        for _ in 0..<left % 4 { object.release() }
    }

    /// Returns a reference that the caller owns.
    @inline(__always)
    mutating func take() -> Unmanaged<Object> {
        if left == 0 { count() }
        left &-= 1
        return object
    }

    @inline(never)
    private mutating func count() {
        // Most fetches of one object need no more than this reference.
        guard !isFirst else {
            isFirst = false
            left = 1
            _ = object.retain()
            return
        }
        left = 32
        _ = object.retain().retain().retain().retain().retain().retain().retain().retain()
            .retain().retain().retain().retain().retain().retain().retain().retain()
            .retain().retain().retain().retain().retain().retain().retain().retain()
            .retain().retain().retain().retain().retain().retain().retain().retain()
    }
}
