import Foundation

@testable import Heartwood

/// Writes keyed archives as binary property lists, and models as Xcode's compiler archives them. The keys and shapes are those of the compiled
/// models that were studied for `CompiledModelReader`.
struct ArchiveWriter {
    indirect enum Node {
        case null, bool(Bool), integer(Int64), real(Double), data([UInt8]), text(String), reference(Int)
        case array([Node]), dictionary([(String, Node)])
    }

    private(set) var objects: [Node] = [.text("$null")]
    private var classes: [String: Int] = [:]

    mutating func add(_ node: Node) -> Node {
        objects.append(node)
        return .reference(objects.count - 1)
    }

    /// Adds an object whose values may refer to objects that are added later; `fill` sets them.
    mutating func reserve() -> Int {
        objects.append(.null)
        return objects.count - 1
    }

    mutating func fill(_ number: Int, _ name: String, _ values: [(String, Node)]) {
        objects[number] = .dictionary(values + [("$class", classReference(name))])
    }

    mutating func object(_ name: String, _ values: [(String, Node)]) -> Node {
        let number = reserve()
        fill(number, name, values)
        return .reference(number)
    }

    private mutating func classReference(_ name: String) -> Node {
        if let known = classes[name] { return .reference(known) }
        objects.append(.dictionary([("$classname", .text(name)), ("$classes", .array([.text(name), .text("NSObject")]))]))
        classes[name] = objects.count - 1
        return .reference(objects.count - 1)
    }

    mutating func text(_ text: String?) -> Node { text.map { add(.text($0)) } ?? .reference(0) }
    mutating func array(_ members: [Node]) -> Node { object("NSMutableArray", [("NS.objects", .array(members))]) }

    mutating func dictionary(_ entries: [(String, Node)]) -> Node {
        let keys = entries.map { add(.text($0.0)) }
        return object("NSMutableDictionary", [("NS.keys", .array(keys)), ("NS.objects", .array(entries.map(\.1)))])
    }

    func finish(root: Node) -> [UInt8] {
        var list = PropertyListWriter()
        return list.write(.dictionary([
            ("$version", .integer(100_000)), ("$archiver", .text("NSKeyedArchiver")), ("$top", .dictionary([("root", root)])),
            ("$objects", .array(objects)),
        ]))
    }
}

/// Writes a tree as a binary property list.
private struct PropertyListWriter {
    private var offsets: [Int] = []
    private var bytes = Array("bplist00".utf8)
    /// Objects wait for their parts' numbers, so the numbers are assigned ahead.
    private var waiting: [ArchiveWriter.Node] = []

    mutating func write(_ root: ArchiveWriter.Node) -> [UInt8] {
        waiting = [root]
        var next = 0
        while next < waiting.count {
            offsets.append(bytes.count)
            put(waiting[next])
            next += 1
        }
        let table = bytes.count
        for offset in offsets { big(offset, 4) }
        bytes += [0, 0, 0, 0, 0, 0, 4, 4]
        for number in [offsets.count, 0, table] { big(number, 8) }
        return bytes
    }

    private mutating func big(_ number: Int, _ size: Int) {
        for shift in stride(from: (size - 1) * 8, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    private mutating func head(_ kind: UInt8, _ count: Int) {
        guard count >= 15 else { return bytes.append(kind << 4 | UInt8(count)) }
        bytes += [kind << 4 | 0xF, 0x12]
        big(count, 4)
    }

    private mutating func later(_ node: ArchiveWriter.Node) {
        big(waiting.count, 4)
        waiting.append(node)
    }

    private mutating func put(_ node: ArchiveWriter.Node) {
        switch node {
        case .null: bytes.append(0)
        case .bool(let flag): bytes.append(flag ? 9 : 8)
        case .integer(let value):
            bytes.append(0x13)
            big(Int(value), 8)
        case .real(let value):
            bytes.append(0x23)
            big(Int(bitPattern: UInt(value.bitPattern)), 8)
        case .data(let data):
            head(4, data.count)
            bytes += data
        case .text(let text):
            if text.utf8.allSatisfy({ $0 < 0x80 }) {
                head(5, text.utf8.count)
                bytes += Array(text.utf8)
            } else {
                head(6, text.utf16.count)
                for unit in text.utf16 { big(Int(unit), 2) }
            }
        case .reference(let number):
            bytes.append(0x83)
            big(number, 4)
        case .array(let list):
            head(0xA, list.count)
            for member in list { later(member) }
        case .dictionary(let entries):
            head(0xD, entries.count)
            for entry in entries { later(.text(entry.0)) }
            for entry in entries { later(entry.1) }
        }
    }
}
