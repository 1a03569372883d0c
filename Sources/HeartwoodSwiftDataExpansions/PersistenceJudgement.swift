import HeartwoodSwiftText

/// Whether `@Model` persists a variable, from its text.
enum PersistenceJudgement: Equatable {
    case persisted(isTransformable: Bool)
    /// A variable that the class keeps to itself: computed, static or `@Transient`.
    case left
    /// With the sentence that says why.
    case refused(String)

    init(_ property: SwiftProperty, in text: SwiftText) {
        guard !property.isStatic, !property.name.hasPrefix("_$") else {
            self = .left
            return
        }
        if case .computed = property.accessors {
            self = .left
            return
        }
        let type = property.type.map { WrittenType(text.string($0)) }
        if property.attributes.contains(where: { $0.lastName == "Transient" }) {
            self = .left
            // The initializer from backing data gives the variable no value.
            if property.initial == nil, type?.isOptional == false, !property.has("lazy") {
                self = .refused("@Transient requires non-optional property '\(property.plainName)' to have a default value")
            }
            return
        }
        if let fault = Self.fault(of: property, type: type, in: text) {
            self = .refused(fault)
        } else {
            self = .persisted(isTransformable: property.attributes.contains { Self.isTransformable($0, in: text) })
        }
    }

    private static func fault(of property: SwiftProperty, type: WrittenType?, in text: SwiftText) -> String? {
        let name = property.plainName
        if property.isPattern { return "@Model cannot persist a tuple pattern. Declare each variable of '\(name)' by itself" }
        if property.siblings > 1 { return "@Model persists one variable of a declaration. Declare '\(name)' in a 'var' of its own" }
        if name == "description" { return "A stored property cannot be named 'description'" }
        if let word = ["lazy", "weak", "unowned"].first(where: { word in property.modifiers.contains { $0.word == word } }) {
            return "@Model cannot persist '\(word)' property '\(name)'. Remove '\(word)', or mark the property @Transient"
        }
        if let reason = type?.fault {
            return "@Model cannot persist property '\(name)' of \(reason). Give it a Codable type or a model, or mark it @Transient"
        }
        if let initial = property.initial, property.type == nil, text.bytes[initial.lowerBound] == UInt8(ascii: ".") {
            return "A default value requires a fully qualified domain named value"
        }
        return nil
    }

    /// `@Attribute(.transformable(by: …))`, also with the type before the member.
    private static func isTransformable(_ attribute: SwiftAttribute, in text: SwiftText) -> Bool {
        guard attribute.lastName == "Attribute" else { return false }
        return attribute.tokens.contains { text.word($0) == "transformable" && text.isSign($0 - 1, ".") }
    }
}

/// A type as it is written.
struct WrittenType {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    var isOptional: Bool { text.hasSuffix("?") || text.hasSuffix("!") }
    private var isImplicitlyUnwrapped: Bool { text.hasSuffix("!") }

    /// As an expression's type is written: `T!` is `T?` there.
    var inExpression: String { isImplicitlyUnwrapped ? text.dropLast() + "?" : text }

    /// Why no value of the type can be stored; nil where the text does not tell.
    var fault: String? {
        let tokens = SwiftText(text)
        var brackets: [UInt8] = []
        for index in 0..<tokens.count {
            let sign = tokens.sign(index)
            switch sign {
            case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "<"): brackets.append(sign)
            case UInt8(ascii: ">") where tokens.sign(index - 1) == UInt8(ascii: "-"): return "function type '\(text)'"
            case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: ">"): _ = brackets.popLast()
            case UInt8(ascii: ",") where brackets.last == UInt8(ascii: "("): return "tuple type '\(text)'"
            default: break
            }
            guard !tokens.isSign(index - 1, ".") else { continue }
            switch tokens.word(index) {
            case "Any", "AnyObject", "AnyClass": return "type '\(text)'"
            case "any", "some": return "type '\(text)', which is no one type"
            default: break
            }
        }
        return nil
    }
}
