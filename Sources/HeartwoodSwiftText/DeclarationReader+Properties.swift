extension DeclarationReader {
    /// Reads `var` or `let` with all its variables. The type of a variable is also that of those before it without one.
    mutating func properties(_ lead: Lead) -> [SwiftProperty] {
        let isConstant = text.word(index) == "let"
        index += 1
        var found: [SwiftProperty] = []
        while index < text.count {
            guard let property = binding(lead, isConstant: isConstant) else { break }
            if let type = property.type {
                for other in found.indices.reversed() {
                    guard found[other].type == nil, found[other].initial == nil else { break }
                    found[other].type = type
                }
            }
            found.append(property)
            guard text.isSign(index, ",") else { break }
            index += 1
        }
        if text.isSign(index, ";") { index += 1 }
        for other in found.indices { found[other].siblings = found.count }
        return found
    }

    private mutating func binding(_ lead: Lead, isConstant: Bool) -> SwiftProperty? {
        let nameToken = index
        let isPattern = text.isSign(index, "(")
        guard isPattern || text.isName(index) else { return nil }
        index = text.afterClosing(index)
        let name = text.string(text.range(nameToken..<index))
        var type: Range<Int>?
        if text.isSign(index, ":") {
            let start = index + 1
            index = text.typeEnd(from: start)
            if start < index { type = text.range(start..<index) }
        }
        var initial: Range<Int>?
        if text.isSign(index, "=") {
            let start = index + 1
            index = text.expressionEnd(from: start)
            if start < index { initial = text.range(start..<index) }
        }
        var accessors = SwiftProperty.Accessors.none
        if text.isSign(index, "{") { accessors = self.accessors() }
        return SwiftProperty(
            attributes: lead.attributes, modifiers: lead.modifiers, isConstant: isConstant, name: name, isPattern: isPattern, first: lead.first,
            nameToken: nameToken, type: type, initial: initial, accessors: accessors, siblings: 1)
    }

    /// Reads the block of accessors whose brace is here.
    private mutating func accessors() -> SwiftProperty.Accessors {
        let end = text.closing(of: index)
        var position = index + 1
        index = text.afterClosing(index)
        var observers: [SwiftObserver] = []
        while position < end {
            if text.tokens[position].kind == .attribute {
                position += 1
                if text.isSign(position, "(") { position = text.afterClosing(position) }
                continue
            }
            let word = text.word(position)
            guard word == "didSet" || word == "willSet" else { break }
            position += 1
            var parameter: String?
            if text.isSign(position, "(") {
                parameter = text.string(text.inside(position))
                position = text.afterClosing(position)
            }
            guard position < end, text.isSign(position, "{") else { break }
            observers.append(SwiftObserver(isBefore: word == "willSet", parameter: parameter, body: text.inside(position)))
            position = text.afterClosing(position)
        }
        return observers.isEmpty ? .computed : .observers(observers)
    }
}
