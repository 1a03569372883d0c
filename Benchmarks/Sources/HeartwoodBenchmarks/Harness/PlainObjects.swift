import Foundation

/// Measures the runtime's own cost for objects as large as managed ones: allocating them, an array of them, and releasing them. No store can hand
/// over new objects faster than that.
enum PlainObjects {
    private class Plain: NSObject {
        let words: (Int, Int, Int, Int, Int, Int, Int)

        init(_ number: Int) {
            words = (number, 0, 0, 0, 0, 0, 0)
        }
    }

    /// Allocates this number of objects and releases them.
    /// - Returns: a checksum, so that nothing is optimised away.
    static func make(_ count: Int) -> Int {
        var objects: [Plain] = []
        objects.reserveCapacity(count)
        for number in 0..<count { objects.append(Plain(number)) }
        return objects.reduce(0) { $0 &+ $1.words.0 }
    }
}
