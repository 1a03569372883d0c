/// Where types and expressions end. Swift's grammar ends them by what follows; so does this, without a parser.
extension SwiftText {
    /// Returns the index after a type that starts at an index.
    package func typeEnd(from start: Int) -> Int {
        var index = start
        var angles = 0
        while index < tokens.count {
            if index > start, angles == 0, tokens[index].startsLine, !continuesType(index) { return index }
            switch sign(index) {
            case UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: "{"):
                if angles == 0 || sign(index) == UInt8(ascii: "{") { return index }
                index += 1
            case UInt8(ascii: "}"), UInt8(ascii: ")"), UInt8(ascii: "]"): return index
            case UInt8(ascii: "("), UInt8(ascii: "["): index = afterClosing(index)
            case UInt8(ascii: "<"):
                angles += 1
                index += 1
            case UInt8(ascii: ">") where !isArrowHead(index):
                guard angles > 0 else { return index }
                angles -= 1
                index += 1
            default:
                // A directive ends it; an attribute does so inside of the line of `var a: Int @B`, which Swift refuses.
                if tokens[index].kind == .directive { return index }
                index += 1
            }
        }
        return index
    }

    private func isArrowHead(_ index: Int) -> Bool { index > 0 && sign(index - 1) == UInt8(ascii: "-") && !tokens[index].followsSpace }

    private func continuesType(_ index: Int) -> Bool {
        switch sign(index) {
        case UInt8(ascii: "."), UInt8(ascii: "?"), UInt8(ascii: "!"), UInt8(ascii: "&"), UInt8(ascii: "-"): return true
        default: break
        }
        switch sign(index - 1) {
        case UInt8(ascii: "."), UInt8(ascii: "&"): return true
        case UInt8(ascii: ">"): return isArrowHead(index - 1)
        default: return ["any", "some"].contains(word(index - 1))
        }
    }

    /// Returns the index after an expression that starts at an index: at a comma, a semicolon, a closing bracket, accessors, or a line that does
    /// not continue it.
    package func expressionEnd(from start: Int) -> Int {
        var index = start
        while index < tokens.count {
            if index > start, tokens[index].startsLine, !continuesExpression(index) { return index }
            switch sign(index) {
            case UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "}"), UInt8(ascii: ")"), UInt8(ascii: "]"): return index
            case UInt8(ascii: "{"):
                if index > start, startsObservers(index) { return index }
                index = afterClosing(index)
            case UInt8(ascii: "("), UInt8(ascii: "["): index = afterClosing(index)
            case UInt8(ascii: "<"): index = genericArgumentsEnd(from: index) ?? index + 1
            default:
                if index > start, tokens[index].kind == .directive, tokens[index].startsLine { return index }
                index += 1
            }
        }
        return index
    }

    /// Whether the brace opens `didSet` or `willSet`: accessors of a property, not a closure.
    private func startsObservers(_ brace: Int) -> Bool {
        var index = brace + 1
        while index < tokens.count, tokens[index].kind == .attribute {
            index += 1
            if isSign(index, "(") { index = afterClosing(index) }
        }
        return ["didSet", "willSet"].contains(word(index))
    }

    private static func isOperator(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "*"), UInt8(ascii: "/"), UInt8(ascii: "%"), UInt8(ascii: "="), UInt8(ascii: "&"),
            UInt8(ascii: "|"), UInt8(ascii: "^"), UInt8(ascii: "~"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "?"), UInt8(ascii: "!"),
            UInt8(ascii: ":"):
            return true
        default: return false
        }
    }

    /// Whether a token that is the first in its line goes on with the expression of the line before: an operator between spaces does, a member too.
    private func continuesExpression(_ index: Int) -> Bool {
        if sign(index) == UInt8(ascii: ".") { return true }
        if Self.isOperator(sign(index)) {
            var end = index + 1
            while Self.isOperator(sign(end)), !tokens[end].followsSpace { end += 1 }
            return end < tokens.count && tokens[end].followsSpace
        }
        if ["as", "is", "else"].contains(word(index)) { return true }
        // A brace in a line of its own is a trailing closure, as the compiler has it, where an expression can have one.
        if sign(index) == UInt8(ascii: "{") { return !startsObservers(index) }
        let last = index - 1
        if sign(last) == UInt8(ascii: ".") { return true }
        if Self.isOperator(sign(last)) {
            var first = last
            while Self.isOperator(sign(first - 1)), !tokens[first].followsSpace { first -= 1 }
            return tokens[first].followsSpace
        }
        return ["as", "is", "try", "await", "in", "else", "consume", "copy"].contains(word(last))
    }

    /// Returns the index after `<…>` that holds types; nil where the sign is a comparison.
    package func genericArgumentsEnd(from start: Int) -> Int? {
        guard start > 0, !tokens[start].followsSpace, isName(start - 1) || tokens[start - 1].kind == .directive else { return nil }
        var index = start + 1
        var angles = 1
        // No list of types is longer; the limit keeps a text of many comparisons linear.
        let limit = min(tokens.count, start + 400)
        while index < limit {
            switch sign(index) {
            case UInt8(ascii: "<"):
                angles += 1
                index += 1
            case UInt8(ascii: ">") where !isArrowHead(index):
                angles -= 1
                index += 1
                if angles == 0 { return index }
            case UInt8(ascii: "("), UInt8(ascii: "["): index = afterClosing(index)
            case UInt8(ascii: ","), UInt8(ascii: "."), UInt8(ascii: "?"), UInt8(ascii: "!"), UInt8(ascii: "&"), UInt8(ascii: "-"), UInt8(ascii: ">"):
                index += 1
            case 0 where isName(index) || tokens[index].kind == .attribute: index += 1
            default: return nil
            }
        }
        return nil
    }
}
