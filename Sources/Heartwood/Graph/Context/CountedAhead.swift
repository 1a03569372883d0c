/// References to one object that are counted many at a time.
///
/// An initializer takes over a reference to each of its arguments, and what it stores is one more: counted one by one they are an eighth of
/// what a fetched object costs. The compiler makes one atomic operation of the references that are counted one after the other here.
///
/// Invariant: `left` references to the object are counted and not given away.
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

    /// A reference that is the caller's.
    @inline(__always)
    mutating func take() -> Unmanaged<Object> {
        if left == 0 { count() }
        left &-= 1
        return object
    }

    @inline(never)
    private mutating func count() {
        // Most fetches of one object end with it.
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
