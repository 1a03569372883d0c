/// Objects by index, like `[Element?]`, for loops that count no references.
///
/// Invariant: each element that is not nil owns one reference to its object.
struct Slots<Element: AnyObject>: ~Copyable {
    private var elements: UnsafeMutablePointer<Unmanaged<Element>?>?
    private var capacity = 0
    private(set) var count = 0

    init() {}

    deinit {
        for index in 0..<count { elements?[index]?.release() }
        elements?.deallocate()
    }

    /// The object at an index, valid until that element is set.
    @inline(__always)
    func unretained(_ index: Int) -> Unmanaged<Element>? {
        guard let elements, index < count else { return nil }
        return elements[index]
    }

    /// Setting an element grows the storage as needed.
    subscript(index: Int) -> Element? {
        get { unretained(index)?.takeUnretainedValue() }
        set {
            guard index < count || newValue != nil else { return }
            if index >= count { grow(to: index + 1) }
            guard let elements else { return }
            let old = elements[index]
            elements[index] = newValue.map(Unmanaged.passRetained)
            old?.release()
        }
    }

    private mutating func grow(to newCount: Int) {
        if newCount > capacity {
            capacity = max(newCount, capacity * 2)
            let grown = UnsafeMutablePointer<Unmanaged<Element>?>.allocate(capacity: capacity)
            if let elements { grown.initialize(from: elements, count: count) }
            elements?.deallocate()
            elements = grown
        }
        elements?.advanced(by: count).initialize(repeating: nil, count: newCount - count)
        count = newCount
    }
}
