/// The views of a few stores, by the store's first slot.
struct StoreViews {
    private(set) var list: [(slotBase: UInt64, view: any StoreView)] = []

    var isEmpty: Bool { list.isEmpty }
    var count: Int { list.count }

    subscript(slotBase: UInt64) -> (any StoreView)? {
        get { list.first { $0.slotBase == slotBase }?.view }
        set {
            list.removeAll { $0.slotBase == slotBase }
            if let newValue { list.append((slotBase, newValue)) }
        }
    }

    mutating func removeAll(where isUnwanted: (UInt64, any StoreView) -> Bool) { list.removeAll { isUnwanted($0.slotBase, $0.view) } }
}
