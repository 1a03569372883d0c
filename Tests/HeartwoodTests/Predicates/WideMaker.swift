import Foundation
import HeartwoodTestSupport

@testable import Heartwood

/// Makes predicates with everything in the format language, and values at the ends of their types.
struct WideMaker {
    var random: SeededGenerator
    var arguments: [Any] = []
    private var given: [Any] = []

    init(random: SeededGenerator) { self.random = random }
    var objects: [NSManagedObject] = []
    var variables: [(name: String, isTag: Int)] = []

    mutating func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }
    mutating func chance(_ n: Int) -> Bool { Int.random(in: 0..<n, using: &random) == 0 }
    mutating func arg(_ value: Any) -> String {
        given.append(value)
        return "«\(given.count - 1)»"
    }

    /// The format with an argument for each placeholder.
    mutating func finished(_ format: String) -> String {
        var result = ""
        arguments = []
        var rest = Substring(format)
        while let start = rest.firstIndex(of: "«"), let end = rest.firstIndex(of: "»") {
            result += rest[..<start] + "%@"
            arguments.append(given[Int(rest[rest.index(after: start)..<end])!])
            rest = rest[rest.index(after: end)...]
        }
        given = []
        return result + rest
    }

    static let doubles: [Double] = [
        .nan, .infinity, -.infinity, -0.0, 0, .leastNonzeroMagnitude, -.leastNonzeroMagnitude, .leastNormalMagnitude, .greatestFiniteMagnitude,
        -.greatestFiniteMagnitude, 0.1, 1, 2, -1, 1e16, 9007199254740992, 9.223372036854775807e18, 0.5, 127, 1e-200, 1e127, 1e126]
    static let ints: [Int64] = [
        .min, .max, .min + 1, .max - 1, 0, 1, -1, 2, 3, 7, Int64(Int32.max), Int64(Int32.min), Int64(Int16.max), Int64(Int16.min), 9007199254740993,
        255, 32768, -32769, 2147483648]
    static let decimals: [Decimal] = [
        .nan, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude, 0, 1, -1, 2, Decimal(string: "0.1")!,
        Decimal(string: "1.50")!, Decimal(string: "9223372036854775808")!, Decimal(string: "-9223372036854775809")!, Decimal(string: "1e100")!,
        Decimal(string: "1e-100")!, Decimal(string: "340282366920938463463374607431768211455")!,
        Decimal(string: "0.1000000000000000055511151231257827")!, Decimal(string: "32767.5")!]
    static let texts: [String] = [
        "", "a", "A", "b", "ab", "aB", "Abc", "é", "e\u{301}", "E\u{301}", "É", "ß", "SS", "ss", "ı", "i", "İ", "I", "😀", "👨‍👩‍👧", "a\u{0}b",
        "\u{0}", "a\u{0}", "\u{1}", "ﬁ", "fi", "Å", "\u{212B}", "a\u{30A}", "한", "\u{1112}\u{1161}\u{11AB}", "z\u{301}\u{323}", "z\u{323}\u{301}",
        String(repeating: "long ", count: 900), String(repeating: "x", count: 300), "*", "?", "\\", "a*", "[a", "10", "-1.5", "true", "\"", "'",
        "%@", "\n", "\u{2028}", "\u{FFFD}", "\u{FEFF}a", "Σ", "ς", "σ", "ﾊﾞ", "バ", "a b", "A\u{300}\u{301}", "\u{301}", "\u{10FFFF}", "\u{E000}",
        "\u{FFFF}"]
    static let dates: [Double] = [.nan, .infinity, -.infinity, 0, 1, -1, 1e300, -1e12, 86400, 0.1, -0.0, .greatestFiniteMagnitude]
    static let datas: [Data] = [
        Data(), Data([0]), Data([0, 0]), Data([1]), Data([255]), Data([1, 2, 3]), Data(repeating: 7, count: 200_000),
        Data(repeating: 7, count: 5000)]
    static let uuids = [
        "00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF", "00000000-0000-0000-8000-00000000000A",
        "80000000-0000-0000-0000-00000000000A", "7FFFFFFF-FFFF-FFFF-7FFF-FFFFFFFFFFFF"].map { UUID(uuidString: $0)! }
    static let urls = ["a", "https://example.org/a", "https://example.org/A?b=%20", "file:///tmp/x", "b", "mailto:x@y.z"].map { URL(string: $0)! }

    // MARK: Expressions. `p` is the path's start: "" or "$v."

    mutating func chain() -> String {
        pick(["", "", "", "", "", "boss.", "boss.", "partner.", "boss.boss.", "boss.partner.", "partner.boss.boss."])
    }
    mutating func numberKey() -> String {
        pick(["i16", "i32", "i64", "dbl", "flt", "dec", "bool", "comp.lat", "comp.inner.n", "i32", "dbl", "dec", "x", "y", "length"])
    }
    mutating func numberPath(_ p: String) -> String {
        let key = numberKey()
        return p + chain() + (key == "length" ? "str.length" : key)
    }
    mutating func textPath(_ p: String) -> String {
        p + chain() + pick(["str", "str", "txt", "comp.name", "comp.inner.s", "x", "uri", "r.label", "id"])
    }
    mutating func many(_ p: String) -> String {
        p + pick(["", "", "", "boss.", "partner.", "boss.boss."]) + pick(["team", "friends", "tags", "kids", "line", "r"])
    }
    func isPerson(_ many: String) -> Bool { many.hasSuffix("team") || many.hasSuffix("friends") }
    mutating func memberNumber(_ many: String) -> String {
        isPerson(many) ? numberKey().replacingOccurrences(of: "length", with: "str.length") : many.hasSuffix("kids") ? "n" : "weight"
    }
    mutating func memberText(_ many: String) -> String { isPerson(many) ? pick(["str", "txt", "comp.name", "boss.str", "x"]) : "label" }

    mutating func number(_ depth: Int, _ p: String) -> String {
        switch Int.random(in: 0..<(depth > 0 ? 15 : 5), using: &random) {
        case 0, 1: return numberPath(p)
        case 2: return arg(pick(Self.ints))
        case 3:
            switch Int.random(in: 0..<4, using: &random) {
            case 0: return arg(pick(Self.doubles))
            case 1: return arg(NSDecimalNumber(decimal: pick(Self.decimals)))
            case 2: return pick(["nil", "YES", "NO", "2.5", "-1", "1", "0", "7"])
            default: return arg(NSNumber(value: pick(Self.ints)))
            }
        case 4: return pick(
            ["1", "2", "0", "3.5", "i32", "dbl"]).replacingOccurrences(of: "i32", with: p + "i32").replacingOccurrences(of: "dbl", with: p + "dbl")
        case 5, 6: return "(\(number(depth - 1, p)) \(pick(["+", "-", "*", "/", "**", "&", "|", "^", "<<", ">>"])) \(number(depth - 1, p)))"
        case 7: return "\(pick(["abs", "floor", "ceiling", "trunc", "sqrt", "ln", "log", "exp", "onesComplement", "noindex", "sum", "max", "count", "average", "median", "stddev", "-", "~"]))(\(number(depth - 1, p)))"
        case 8: return "\(pick(["sum", "min", "max", "count", "average", "median", "stddev"]))(\(number(depth - 1, p)), \(number(depth - 1, p)), \(number(0, p)))"
        case 9: return "TERNARY(\(predicate(depth - 1, p)), \(number(depth - 1, p)), \(number(depth - 1, p)))"
        case 10:
            let many = many(p)
            return pick([
                "\(many).@count", "\(many)[SIZE]", "count(\(many))", "\(many).@\(pick(["sum", "avg", "min", "max"])).\(memberNumber(many))",
                "\(pick(["sum", "min", "max", "count"]))(\(many).\(memberNumber(many)))"])
        case 11: return subquery(depth - 1, p) + pick([".@count", "[SIZE]", ".@sum.i32", ".@max.dbl"]).replacingOccurrences(
            of: ".@sum.i32", with: ".@count").replacingOccurrences(of: ".@max.dbl", with: ".@count")
        case 12: return pick([
            "length(\(text(depth - 1, p)))", "CAST(\(text(depth - 1, p)), 'NSNumber')", "CAST(\(number(depth - 1, p)), 'NSDecimalNumber')",
            "FUNCTION(\(text(0, p)), 'doubleValue')", "FUNCTION(\(text(0, p)), 'integerValue')", "FUNCTION(\(text(0, p)), 'length')"])
        case 13: return pick([
            "(\(date(depth - 1, p)) - \(date(0, p)))", "FUNCTION(\(date(0, p)), 'timeIntervalSince1970')",
            "modulus:by:(\(number(0, p)), \(number(0, p)))", "CAST(\(date(0, p)), 'NSNumber')"])
        default:
            let line = p + chain() + pick(["kids", "line"])
            return "\(line)[\(pick(["0", "1", "FIRST", "LAST", "-1", "9", "SIZE", "i32", "\(line)[SIZE] - 1"]))].\(line.hasSuffix("kids") ? "n" : "weight")".replacingOccurrences(of: "[SIZE].n", with: "[SIZE]").replacingOccurrences(of: "[SIZE].weight", with: "[SIZE]").replacingOccurrences(of: "[i32]", with: "[\(p)i32]")
        }
    }

    mutating func text(_ depth: Int, _ p: String) -> String {
        switch Int.random(in: 0..<(depth > 0 ? 9 : 4), using: &random) {
        case 0, 1: return textPath(p)
        case 2, 3: return chance(12) ? "nil" : arg(pick(Self.texts))
        case 4: return "\(pick(["uppercase", "lowercase", "canonical", "noindex"]))(\(text(depth - 1, p)))"
        case 5: return "FUNCTION(\(text(depth - 1, p)), 'stringByAppendingString:', \(text(0, p)))"
        case 6: return "CAST(\(pick([number(0, p), "\(p)uuid", "\(p)uri", "\(p)data", "\(p)bool", "\(p)date"])), 'NSString')"
        case 7: return "TERNARY(\(predicate(depth - 1, p)), \(text(depth - 1, p)), \(text(0, p)))"
        default: return "\(p + chain())\(pick(["kids", "line"]))[\(pick(["0", "FIRST", "LAST", "2"]))].label"
        }
    }

    mutating func date(_ depth: Int, _ p: String) -> String {
        switch Int.random(in: 0..<(depth > 0 ? 6 : 3), using: &random) {
        case 0, 1: return p + chain() + "date"
        case 2: return arg(Date(timeIntervalSinceReferenceDate: pick(Self.dates)))
        case 3: return "(\(date(depth - 1, p)) + \(number(0, p)))"
        case 4: return "CAST(\(number(0, p)), 'NSDate')"
        default: return "FUNCTION(\(date(0, p)), 'dateByAddingTimeInterval:', \(number(0, p)))"
        }
    }

    mutating func subquery(_ depth: Int, _ p: String) -> String {
        let many = many(p)
        let name = "v\(variables.count)"
        variables.append((name, isPerson(many) ? 0 : many.hasSuffix("kids") ? 2 : 1))
        defer { variables.removeLast() }
        var inner: String
        if isPerson(many) {
            inner = predicate(max(0, depth), "$\(name).")
        } else if many.hasSuffix("kids") {
            inner = pick([
                "$\(name).n > \(number(0, p))", "$\(name).label = \(text(0, p))", "$\(name).owner.i32 >= $\(name).n",
                "$\(name).label CONTAINS[c] 'a'", "$\(name).owner = SELF", "$\(name).owner.boss.i32 = \(number(0, p))"])
        } else {
            inner = pick([
                "$\(name).weight > \(number(0, p))", "$\(name).label != \(text(0, p))", "$\(name).people.@count > 2", "ANY $\(name).people.i32 > 1",
                "SELF IN $\(name).people", "$\(name).weight = nil", "SUBQUERY($\(name).people, $q, $q.i32 > $\(name).weight).@count > 0"])
        }
        if chance(4) { inner = "(\(inner)) AND $\(name) != nil" }
        return "SUBQUERY(\(many), $\(name), \(inner))"
    }

    mutating func object(_ p: String) -> String {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return arg(pick(objects))
        case 1: return arg(pick(objects).objectID)
        case 2: return pick(["nil", p == "" ? "SELF" : String(p.dropLast())])
        default: return p + pick(["boss", "partner", "boss.boss", "boss.partner"])
        }
    }

    mutating func options() -> String { pick(["", "", "", "", "[c]", "[d]", "[cd]", "[n]", "[cdn]", "[l]", "[cdl]"]) }

    mutating func list(_ depth: Int, _ p: String) -> String {
        switch Int.random(in: 0..<5, using: &random) {
        case 0: return "{\((0..<Int.random(in: 0..<5, using: &random)).map { _ in number(0, p) }.joined(separator: ", "))}"
        case 1: return arg((0..<Int.random(in: 0..<5, using: &random)).map { _ -> Any in
            pick([pick(Self.ints) as Any, pick(Self.doubles), NSDecimalNumber(decimal: pick(Self.decimals)), NSNull(), true, pick(Self.texts)])
        })
        case 2:
            let many = many(p)
            return "\(many).\(memberNumber(many))"
        case 3: return "{\(number(0, p)), nil}"
        default: return "{\(number(depth - 1, p)), \(number(0, p)), \(number(0, p))}"
        }
    }

    mutating func textList(_ p: String) -> String {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return "{\((0..<Int.random(in: 0..<5, using: &random)).map { _ in text(0, p) }.joined(separator: ", "))}"
        case 1: return arg((0..<Int.random(in: 0..<6, using: &random)).map { _ in pick(Self.texts) })
        case 2: return arg(Set((0..<Int.random(in: 0..<6, using: &random)).map { _ in pick(Self.texts) }))
        default:
            let many = many(p)
            return "\(many).\(memberText(many))"
        }
    }

    mutating func predicate(_ depth: Int, _ p: String) -> String {
        let order = pick(["=", "=", "!=", "<", "<=", ">", ">="])
        let textual = pick(["=", "!=", "<", "<=", ">", ">=", "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "IN"])
        switch Int.random(in: 0..<(depth > 0 ? 34 : 20), using: &random) {
        case 0: return "\(numberPath(p)) \(order) \(number(0, p))"
        case 1, 2: return "\(number(depth, p)) \(order) \(number(depth, p))"
        case 3, 4: return "\(text(depth, p)) \(textual)\(options()) \(text(depth, p))"
        case 5: return "\(textPath(p)) \(textual)\(options()) \(chance(10) ? "nil" : arg(pick(Self.texts)))"
        case 6: return "\(textPath(p)) LIKE\(options()) \(arg(pick(["*a*", "?", "??", "a?", "*\\**", "é*", "*b", "[a-c]", "\\", "*\u{0}*", "*😀"])))"
        case 7: return "\(textPath(p)) MATCHES\(options()) \(arg(pick([".", "a.*", "[a-cé]+", ".*\\u0000.*", "", "(?i)ab", "\\w+", "^$", ".{2}", "\\X"])))"
        case 8: return "\(number(0, p)) BETWEEN {\(number(0, p)), \(number(0, p))}"
        case 9: return pick([
            "\(text(0, p)) BETWEEN\(options()) {\(text(0, p)), \(text(0, p))}", "\(p)date BETWEEN {\(date(0, p)), \(date(0, p))}",
            "\(number(0, p)) BETWEEN \(arg([pick(Self.ints) as Any, pick(Self.doubles)]))"])
        case 10: return "\(number(0, p)) \(pick(["IN", "IN", "NOT IN"])) \(list(depth, p))"
        case 11: return "\(text(0, p)) IN\(options()) \(textList(p))"
        case 12: return "\(date(depth, p)) \(order) \(chance(6) ? "nil" : date(depth, p))"
        case 13:
            switch Int.random(in: 0..<5, using: &random) {
            case 0: return "\(p)data \(order) \(arg(pick(Self.datas)))"
            case 1: return "\(p)uuid \(order) \(arg(pick(Self.uuids)))"
            case 2: return "\(p)uri \(pick(["=", "!=", "<", ">="])) \(arg(pick(Self.urls)))"
            case 3: return "\(p)\(pick(["data", "uuid", "uri", "date"])) IN \(arg([pick(Self.datas) as Any, pick(Self.uuids), pick(Self.urls), NSNull(), Date(timeIntervalSinceReferenceDate: pick(Self.dates)), pick(Self.texts)]))"
            default: return "\(p)ext \(pick(["=", "!="])) \(arg(pick(Self.datas)))"
            }
        case 14:
            return "\(p + chain())\(pick(["i16", "i64", "dbl", "dec", "str", "bool", "date", "data", "ext", "uuid", "uri", "trans", "comp", "comp.lat", "comp.inner", "comp.inner.s", "boss", "partner", "x", "y", "r"])) \(pick(["=", "!=", "<", ">="])) nil"
        case 15:
            let many = many(p)
            return "\(pick(["ANY", "ALL", "NONE", "SOME"])) \(many).\(memberNumber(many)) \(order) \(number(0, p))"
        case 16:
            let many = many(p)
            return "\(pick(["ANY", "ALL", "NONE", "SOME"])) \(many).\(memberText(many)) \(textual)\(options()) \(text(0, p))"
        case 17: return "\(object(p)) \(pick(["=", "!="])) \(object(p))"
        case 18:
            return pick([
                "\(p == "" ? "" : p)entity = \(arg(objects[0].entity))", "\(p)entity.name = \(arg(pick(["A", "B", "C", "Base"])))",
                "\(p)entity.name IN {'A', 'C'}",
                "\(p)objectID = \(arg(pick(objects).objectID))", "\(p)boss.entity.name = 'B'",
            ])
        case 19: return pick([
            "\(p)comp = \(p)comp", "\(p)trans = \(arg(["a"]))", "\(p)comp.inner.n \(order) \(p)comp.lat",
            "\(p)comp.inner.s \(textual)\(options()) \(text(0, p))", "\(p)x = \(p)y", "\(p)x \(order) \(number(0, p))",
            "\(p)x \(textual)\(options()) \(text(0, p))", "\(p)comp = \(arg(["lat": 1.0, "name": "a"]))", "\(p)bool \(order) \(number(0, p))"])
        case 20...23: return "(\(predicate(depth - 1, p)) AND \(predicate(depth - 1, p)))"
        case 24...26: return "(\(predicate(depth - 1, p)) OR \(predicate(depth - 1, p)))"
        case 27, 28: return "NOT (\(predicate(depth - 1, p)))"
        case 29: return "\(subquery(depth - 1, p)).@count \(order) \(pick(["0", "1", "2"]))"
        case 30:
            let to = pick(["team", "friends"])
            return pick([
                "ANY \(p)\(to).\(pick(["tags", "line"])).weight \(order) \(number(0, p))", "ALL \(p)\(to).kids.n \(order) \(number(0, p))",
                "ANY \(p)\(to).boss.i32 \(order) \(number(0, p))",
                "ANY \(p)boss.\(to).\(pick(["tags", "kids"])).label \(textual)\(options()) \(text(0, p))",
                "NONE \(p)\(to).\(to).i64 \(order) \(number(0, p))", "ALL \(p)tags.people.i32 \(order) \(number(0, p))",
                "ANY \(p)\(to).boss.team.i32 \(order) \(number(0, p))", "ANY \(p)\(to).tags.@count \(order) 1", "\(p)\(to).tags.@count \(order) 2",
                "ANY \(p)\(to).r.weight \(order) \(number(0, p))", "ALL \(p)r.weight \(order) \(number(0, p))",
            ])
        case 31:
            let to = p + pick(["team", "friends", "boss.team"])
            return pick([
                "\(to) CONTAINS \(object(p))", "\(object(p)) IN \(to)", "ANY \(to) = \(object(p))", "ALL \(to) != \(object(p))",
                "NONE \(to) = \(object(p))", "ANY \(to) IN \(arg([pick(objects), pick(objects)]))",
                "\(p)boss IN \(arg([pick(objects), NSNull(), pick(objects).objectID]))", "\(to) = \(to)", "\(to) = nil",
                "\(to).@count = \(p)tags.@count"])
        case 32: return "\(p)\(pick(["kids", "line"]))[\(pick(["0", "FIRST", "LAST", "1"]))] \(pick(["=", "!="])) \(pick(["nil", "\(p)kids[0]", "\(p)line[LAST]"]))"
        default: return pick([
            "\(number(depth - 1, p)) = \(text(depth - 1, p))", "\(text(depth - 1, p)) \(order) \(date(depth - 1, p))",
            "\(p)data \(order) \(text(0, p))", "\(p)\(pick(["uuid", "uri", "data", "trans", "comp"])) \(textual) \(text(0, p))",
            "\(p)\(pick(["team", "tags"])) \(order) \(number(0, p))"])
        }
    }

    // MARK: Values

    mutating func values(_ entity: String, _ rate: Int = 5) -> [String: Any] {
        var values: [String: Any] = [:]
        func put(_ key: String, _ value: Any, _ isThere: Bool) { if isThere { values[key] = value } }
        func isThere() -> Bool { !chance(rate) }
        put("i16", Int(Int16(truncatingIfNeeded: pick(Self.ints))), isThere())
        put("i32", Int(Int32(truncatingIfNeeded: pick(Self.ints))), isThere())
        put("i64", Int(pick(Self.ints)), isThere())
        put("dbl", pick(Self.doubles), isThere())
        put("flt", Float(pick(Self.doubles)), isThere())
        put("dec", NSDecimalNumber(decimal: pick(Self.decimals)), isThere())
        put("str", pick(Self.texts), isThere())
        put("txt", pick(Self.texts), isThere())
        put("bool", Bool.random(using: &random), isThere())
        put("date", Date(timeIntervalSinceReferenceDate: pick(Self.dates)), isThere())
        put("data", pick(Self.datas), isThere())
        put("ext", pick(Self.datas), isThere())
        put("uuid", pick(Self.uuids), isThere())
        put("uri", pick(Self.urls), isThere())
        put("trans", pick([["a"], ["b", "c"]]) as NSArray, isThere())
        put("comp.lat", pick(Self.doubles), isThere())
        put("comp.name", pick(Self.texts), isThere())
        put("comp.inner.n", Int(Int32(truncatingIfNeeded: pick(Self.ints))), isThere())
        put("comp.inner.s", pick(Self.texts), isThere())
        if entity == "B" { put("x", pick(Self.texts), isThere()) } else { put("x", Int(Int32(truncatingIfNeeded: pick(Self.ints))), isThere()) }
        if entity == "C" { put("y", NSDecimalNumber(decimal: pick(Self.decimals)), isThere()) }
        return values
    }

    mutating func set(_ object: NSManagedObject) {
        let flat = values(object.entity.name!, 4)
        // An old value without a new draw becomes null.
        for name in object.entity.attributesByName.keys where name != "id" && flat[name] == nil { object.setValue(nil, forKey: name) }
        var comp: [String: Any] = [:], inner: [String: Any] = [:]
        for (key, value) in flat {
            if key.hasPrefix("comp.inner.") { inner[String(key.dropFirst(11))] = value } else if key.hasPrefix("comp.") { comp[String(key.dropFirst(5))] = value } else { object.setValue(value, forKey: key) }
        }
        if !inner.isEmpty { comp["inner"] = inner }
        if !comp.isEmpty { object.setValue(comp, forKey: "comp") }
    }

    mutating func relate(_ object: NSManagedObject, _ others: [NSManagedObject], _ tags: [NSManagedObject]) {
        if !chance(4), let other = others.randomElement(using: &random) { object.setValue(other, forKey: "boss") }
        if chance(2), let other = others.randomElement(using: &random) { object.setValue(other, forKey: "partner") }
        object.setValue(Set(others.filter { _ in chance(8) }), forKey: "friends")
        object.setValue(Set(tags.filter { _ in chance(3) }), forKey: "tags")
        object.setValue(NSOrderedSet(array: tags.shuffled(using: &random).prefix(Int.random(in: 0..<4, using: &random)).map { $0 }), forKey: "line")
        if object.entity.name == "B" { object.setValue(Set(tags.filter { _ in chance(3) }), forKey: "r") } else if chance(2) { object.setValue(pick(tags), forKey: "r") }
    }
}
