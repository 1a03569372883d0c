import Foundation
import HeartwoodTestSupport
import Testing

@testable import Heartwood

/// Random formats: broken ones, and ones with variables.
@Suite struct WideFormatTests {
    @Test(arguments: [1, 2] as [UInt64])
    func `Malformed formats are refused in time`(seed: UInt64) throws {
        var maker = WideMaker(random: SeededGenerator(seed: seed))
        let stack = try TestStack(.inMemory, model: WideGraph.model())
        let one = stack.insert("A", ["str": "a", "i32": 3]), other = stack.insert("B", ["str": "b"])
        one.setValue(other, forKey: "boss")
        maker.objects = [one, other]
        let junk = [
            "(", ")", "{", "}", "[", "]", "'", "\"", "\\", "%", "%@", "%K", "$", "#", "@", ".", ",", "AND", "NOT ", "ANY ", " BETWEEN ", " IN ",
            "CAST(", "SUBQUERY(", "-", "0x", "1e", "1e999", "99999999999999999999", "\u{0}", "😀", "\u{301}", "**", "<<", "[c]", "[FIRST]", "$x",
            "nil", "SELF", "FUNCTION(", "\n", "//", "&&", "|", "~", "!", "=", "<>", ":", ":=", "$a := ", "%d", "%%", "TERNARY(", "@count", ".@sum.",
            " UNION ", "\\u", "\\x", "'\\u{'"]
        for _ in 0..<700 {
            maker.arguments = []
            var format = Array(maker.finished(maker.predicate(maker.pick([0, 1, 2, 3]), "")))
            for _ in 0..<Int.random(in: 1..<5, using: &maker.random) {
                let at = Int.random(in: 0...format.count, using: &maker.random)
                switch Int.random(in: 0..<4, using: &maker.random) {
                case 0 where at < format.count: format.remove(at: at)
                case 1: format.insert(contentsOf: maker.pick(junk), at: at)
                case 2 where at < format.count: format.removeSubrange(at..<min(format.count, at + Int.random(in: 1..<12, using: &maker.random)))
                default:
                    let from = Int.random(in: 0...format.count, using: &maker.random)
                    format.insert(contentsOf: format[from..<min(format.count, from + 15)], at: at)
                }
            }
            let text = String(format)
            let start = ContinuousClock.now
            do {
                let predicate = try NSPredicate(parsing: text, argumentArray: maker.arguments)
                let printed = predicate.predicateFormat
                if !printed.contains("x-coredata"), !printed.contains("<"),
                    !maker.arguments.contains(where: { $0 is NSDictionary || $0 is NSEntityDescription })
                {
                    do {
                        let again = try NSPredicate(parsing: printed)
                        if again.predicateFormat != printed { Issue.record("PRINT \(text): \(printed) became \(again.predicateFormat)") }
                    } catch { if !printed.contains("CAST(") { Issue.record("REPARSE \(text): \(printed): \(error)") } }
                }
                let request = NSFetchRequest<NSManagedObject>(entityName: "Base")
                request.predicate = predicate
                do {
                    let found = try stack.context.fetch(request)
                    let both: [NSManagedObject] = [one, other]
                    let matched = predicate.asFetched("Base", in: stack), expected = both.filter { matched.evaluate(with: $0) }
                    if Set(found) != Set(expected) { Issue.record("FOUND \(text) as \(printed)") }
                } catch let error as NSError {
                    if error.localizedDescription.isEmpty { Issue.record("no words \(text)") }
                }
            } catch let error as PredicateFormatError {
                if !"\(error)".contains("^") && !"\(error)".contains("character") { Issue.record("UNMARKED \(text): \(error)") }
            }
            if start.duration(to: .now) > .seconds(3) { Issue.record("SLOW \(text)") }
        }
    }

    /// A template with values equals the format with the values in place of the variables.
    @Test(arguments: [1, 2] as [UInt64])
    func `Templates equal formats with their values`(seed: UInt64) throws {
        var maker = WideMaker(random: SeededGenerator(seed: seed))
        let stack = try TestStack(.inMemory, model: WideGraph.model())
        let people = (0..<12).map { number in stack.insert(["A", "B", "C"][number % 3], ["id": "\(number)"]) }
        let tag = stack.insert("Tag", ["label": "a", "weight": 1])
        for one in people {
            maker.set(one)
            maker.relate(one, people, [tag])
        }
        try stack.context.save()
        maker.objects = people
        for _ in 0..<150 {
            maker.arguments = []
            let format = maker.finished(maker.predicate(maker.pick([0, 1, 2]), ""))
            guard let plain = try? NSPredicate(parsing: format, argumentArray: maker.arguments) else { continue }
            var number = 0, values: [String: Any] = [:], templated = ""
            var rest = Substring(format)
            while let range = rest.range(of: "%@") {
                templated += rest[..<range.lowerBound] + "$t\(number)"
                values["t\(number)"] = maker.arguments[number]
                number += 1
                rest = rest[range.upperBound...]
            }
            templated += rest
            do {
                let template = try NSPredicate(parsing: templated)
                let filled = template.withSubstitutionVariables(values)
                let a = people.filter { plain.evaluate(with: $0) }, b = people.filter { filled.evaluate(with: $0) }
                let c = people.filter { template.evaluate(with: $0, substitutionVariables: values) }
                if a != b || a != c { Issue.record("TEMPLATE \(format) with \(maker.arguments.map { ValueText.of($0) }): \(a.count) \(b.count) \(c.count): \(plain.predicateFormat) / \(filled.predicateFormat)") }
                let request = NSFetchRequest<NSManagedObject>(entityName: "Base")
                request.predicate = filled
                let found = try stack.context.fetch(request)
                let matched = filled.asFetched("Base", in: stack)
                if Set(found) != Set(people.filter { matched.evaluate(with: $0) }) {
                    Issue.record("TEMPLATEFOUND \(format) with \(maker.arguments.map { ValueText.of($0) }): \(a.count) \(found.count)")
                }
                // Built by hand from the same parts.
                if let comparison = plain as? NSComparisonPredicate {
                    let hand = NSComparisonPredicate(
                        leftExpression: comparison.leftExpression, rightExpression: comparison.rightExpression,
                        modifier: comparison.comparisonPredicateModifier, type: comparison.predicateOperatorType, options: comparison.options)
                    if hand.predicateFormat != plain.predicateFormat { Issue.record("HAND \(plain.predicateFormat) \(hand.predicateFormat)") }
                    if people.filter({ hand.evaluate(with: $0) }) != a { Issue.record("HANDFOUND \(plain.predicateFormat)") }
                }
            } catch { Issue.record("TEMPLATETHROWN \(templated) for \(format) with \(maker.arguments.map { ValueText.of($0) }): \((error as NSError).localizedDescription.prefix(400))") }
        }
    }
}
