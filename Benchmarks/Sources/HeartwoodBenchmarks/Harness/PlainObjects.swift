import Foundation

/// What the runtime alone takes for objects as large as managed ones: their memory, an array of them, and letting go. No store is faster than that
/// in handing over objects that it did not have before.
enum PlainObjects {
    private class Plain: NSObject {
        let words: (Int, Int, Int, Int, Int, Int, Int)

        init(_ number: Int) {
            words = (number, 0, 0, 0, 0, 0, 0)
        }
    }

    /// Makes so many and lets go of them.
    /// - Returns: something made of them.
    static func make(_ count: Int) -> Int {
        var objects: [Plain] = []
        objects.reserveCapacity(count)
        for number in 0..<count { objects.append(Plain(number)) }
        return objects.reduce(0) { $0 &+ $1.words.0 }
    }
}
