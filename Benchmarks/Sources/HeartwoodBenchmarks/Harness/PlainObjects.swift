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

    /// A fetch's caller makes such a request each time. Its predicate has a format and an argument.
    private class Request: NSObject {
        let entity: String
        let predicate: Predicate
        let limit: Int

        init(_ entity: String, _ predicate: Predicate, limit: Int) {
            (self.entity, self.predicate, self.limit) = (entity, predicate, limit)
        }
    }

    private class Predicate: NSObject {
        let format: String
        let arguments: [Any]

        init(format: String, _ arguments: Any...) {
            (self.format, self.arguments) = (format, arguments)
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

    /// Makes a request for each text, and gives one object for it, which a table of objects has until the end. Nothing is searched for.
    static func lookUp(_ texts: [String]) -> Int {
        var known: [Int: Plain] = [:], sum = 0
        for (number, text) in texts.enumerated() {
            let request = Request("Person", Predicate(format: "email == %@", text), limit: 1)
            guard let found = answer(request, number).first else { continue }
            known[number] = found
            sum &+= found.words.0
        }
        return sum
    }

    @inline(never)
    private static func answer(_ request: Request, _ number: Int) -> [Plain] {
        request.predicate.arguments.count == request.limit ? [Plain(number)] : []
    }

    /// Fills an array with this number of pairs, each of a text from the bytes of a row and a number, and adds them up. No fetch of such values is
    /// faster.
    static func values(_ count: Int) -> Int {
        let row = Array("Barbara 99999".utf8)
        let pairs = [(String, Int)](unsafeUninitializedCapacity: count) { memory, made in
            for number in 0..<count { (memory.baseAddress.unsafelyUnwrapped + number).initialize(to: (String(decoding: row, as: UTF8.self), number)) }
            made = count
        }
        return pairs.reduce(0) { $0 &+ $1.0.utf8.count &+ $1.1 }
    }

    /// Makes this number of objects, which an array has until the end, and a text for each from the bytes of a row.
    static func texts(_ count: Int) -> Int {
        var objects: [Plain] = [], sum = 0
        objects.reserveCapacity(count)
        let row = Array("some name 123456".utf8)
        for number in 0..<count { objects.append(Plain(number)) }
        for object in objects { sum &+= object.words.0 &+ String(decoding: row, as: UTF8.self).utf8.count }
        return sum
    }
}
