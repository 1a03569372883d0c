import Foundation
internal import HeartwoodDigests

/// Builds the linker's names of a property's accessors, as the Swift compiler does.
/// Source: https://github.com/swiftlang/swift/blob/main/docs/ABI/Mangling.rst, and lib/Basic/ManglingUtils in the same repository.
struct SymbolMangler {
    /// A written type with resolved names.
    indirect enum TypeName: Hashable {
        /// A type's name and the letter of its kind: C for a class, V for a struct, O for an enumeration.
        struct Part: Hashable {
            let name: String
            let kind: Character
        }

        /// A type of the target, as the path from the outermost type to it.
        case local([Part])
        /// A type at the top level of its module, with the letter of its kind: C for a class, V for a struct.
        case known(module: String, name: String, kind: Character)
        /// A type of the standard library, by its letter.
        case standard(Character)
        case any
        case anyObject
        case array(TypeName)
        case set(TypeName)
        case dictionary(TypeName, TypeName)
        case optional(TypeName)
    }

    enum Accessor: String {
        case getter = "vg"
        case setter = "vs"
    }

    private let module: String
    private var buffer: [UInt8] = Array("$s".utf8)
    private var words: [(start: Int, length: Int)] = []
    private var substitutions: [String: Int] = [:]
    private var merge = (position: 0, size: 0, count: 0, isStandard: false)
    private static let wordsMax = 26

    private init(module: String) {
        self.module = module
    }

    /// - Parameter file: the name of the property's file for a private property; nil otherwise.
    static func symbol(
        module: String, path: [TypeName.Part], property: String, type: TypeName, privateIn file: String?, _ accessor: Accessor
    ) -> String {
        var mangler = SymbolMangler(module: module)
        mangler.appendMember(property, of: path, privateIn: file)
        mangler.append(type)
        mangler.append(accessor.rawValue)
        return String(decoding: mangler.buffer, as: UTF8.self)
    }

    /// Returns the symbol of a function without a result.
    /// - Parameter parameters: labels, an underscore for none, and types; at least one.
    static func symbol(
        module: String, path: [TypeName.Part], function: String, parameters: [(label: String, type: TypeName)], privateIn file: String?
    ) -> String {
        var mangler = SymbolMangler(module: module)
        mangler.appendMember(function, of: path, privateIn: file)
        if parameters.allSatisfy({ $0.label == "_" }) {
            mangler.append("y")
        } else {
            for parameter in parameters {
                if parameter.label == "_" { mangler.append("_") } else { mangler.appendIdentifier(parameter.label) }
            }
        }
        mangler.append("y")
        // A single parameter without a label is not mangled as a tuple.
        let isTuple = parameters.count > 1 || parameters.contains { $0.label != "_" }
        for (index, parameter) in parameters.enumerated() {
            mangler.append(parameter.type)
            if index == 0, isTuple { mangler.append("_") }
        }
        if isTuple { mangler.append("t") }
        mangler.append("F")
        return String(decoding: mangler.buffer, as: UTF8.self)
    }

    private mutating func appendMember(_ name: String, of path: [TypeName.Part], privateIn file: String?) {
        appendLocal(path[...])
        appendIdentifier(name)
        if let file {
            appendIdentifier("_" + Hexadecimal.text(MD5.hash((module + file).utf8)).uppercased())
            append("LL")
        }
    }

    private mutating func append(_ text: String) { buffer += text.utf8 }

    // MARK: Types

    private mutating func append(_ type: TypeName) {
        switch type {
        case .any: append("yp")
        case .anyObject: append("yXl")
        case .standard(let letter): appendStandard(letter)
        case .local(let path): appendLocal(path[...])
        case .known(let module, let name, let kind):
            let key = "type:\(module).\(name)"
            if appendSubstitution(key) { return }
            if module == "Swift" { append("s") } else { appendIdentifier(module) }
            appendIdentifier(name)
            append(String(kind))
            addSubstitution(key)
        case .array(let element): appendGeneric("a", [element], type)
        case .set(let element): appendGeneric("h", [element], type)
        case .dictionary(let key, let value): appendGeneric("D", [key, value], type)
        case .optional(let wrapped):
            if appendSubstitution("type:\(type)") { return }
            append(wrapped)
            append("Sg")
            addSubstitution("type:\(type)")
        }
    }

    private mutating func appendGeneric(_ letter: Character, _ arguments: [TypeName], _ type: TypeName) {
        if appendSubstitution("type:\(type)") { return }
        appendStandard(letter)
        append("y")
        for argument in arguments { append(argument) }
        append("G")
        addSubstitution("type:\(type)")
    }

    private mutating func appendLocal(_ path: ArraySlice<TypeName.Part>) {
        let key = "local:" + path.map(\.name).joined(separator: ".")
        if appendSubstitution(key) { return }
        if path.count == 1 { appendIdentifier(module) } else { appendLocal(path.dropLast()) }
        guard let last = path.last else { return }
        appendIdentifier(last.name)
        append(String(last.kind))
        addSubstitution(key)
    }

    // MARK: Substitutions

    private mutating func addSubstitution(_ key: String) {
        if substitutions[key] == nil { substitutions[key] = substitutions.count }
    }

    private mutating func appendSubstitution(_ key: String) -> Bool {
        // A property's name and type contain at most 26 different substitutions.
        guard let index = substitutions[key], index < 26 else { return false }
        let letter = UInt8(ascii: "A") + UInt8(index)
        if !merged(letter, isStandard: false) { buffer += [UInt8(ascii: "A"), letter] }
        return true
    }

    private mutating func appendStandard(_ letter: Character) {
        let letter = letter.asciiValue ?? 0
        if !merged(letter, isStandard: true) { buffer += [UInt8(ascii: "S"), letter] }
    }

    /// Merges a substitution with the one before it: AB, AC become AbC; SS, SS become S2S.
    private mutating func merged(_ letter: UInt8, isStandard: Bool) -> Bool {
        if merge.count > 0, buffer.count == merge.position + merge.size, merge.isStandard == isStandard, let last = buffer.last {
            if last != letter, !isStandard {
                merge = (buffer.count, 1, 1, false)
                buffer[buffer.count - 1] = last - UInt8(ascii: "A") + UInt8(ascii: "a")
                buffer.append(letter)
                return true
            }
            if last == letter {
                merge.count += 1
                buffer.removeSubrange(merge.position...)
                append("\(merge.count)")
                buffer.append(letter)
                merge.size = buffer.count - merge.position
                return true
            }
        }
        merge = (buffer.count + 1, 1, 1, isStandard)
        return false
    }

    // MARK: Identifiers

    private mutating func appendIdentifier(_ name: String) {
        if appendSubstitution("name:" + name) { return }
        addSubstitution("name:" + name)
        appendWords(of: Array(name.utf8))
    }

    /// Appends the identifier, with letters for words that the symbol already contains.
    private mutating func appendWords(of name: [UInt8]) {
        let wordsBefore = words.count
        var replacements: [(position: Int, word: Int)] = []
        var start: Int?
        for position in 0...name.count {
            let byte = position < name.count ? name[position] : 0
            if let begin = start, endsWord(byte, after: name[position - 1]) {
                let word = name[begin..<position]
                let known = words[..<wordsBefore].firstIndex { buffer[$0.start..<$0.start + $0.length].elementsEqual(word) }
                    ?? words[wordsBefore...].firstIndex { name[$0.start..<$0.start + $0.length].elementsEqual(word) }
                if let known {
                    replacements.append((begin, known))
                } else if word.count >= 2, words.count < Self.wordsMax {
                    // The start is relative to the name until the word is written.
                    words.append((begin, word.count))
                }
                start = nil
            }
            if start == nil, startsWord(byte) { start = position }
        }
        if !replacements.isEmpty { append("0") }
        replacements.append((name.count, -1))
        var unplaced = wordsBefore
        var position = 0
        for (index, replacement) in replacements.enumerated() {
            if position < replacement.position {
                append("\(replacement.position - position)")
                while position < replacement.position {
                    if unplaced < words.count, words[unplaced].start == position {
                        words[unplaced].start = buffer.count
                        unplaced += 1
                    }
                    buffer.append(name[position])
                    position += 1
                }
            }
            guard replacement.word >= 0 else { continue }
            position += words[replacement.word].length
            if index < replacements.count - 2 {
                buffer.append(UInt8(ascii: "a") + UInt8(replacement.word))
            } else {
                buffer.append(UInt8(ascii: "A") + UInt8(replacement.word))
                if position == name.count { append("0") }
            }
        }
    }

    private func startsWord(_ byte: UInt8) -> Bool {
        byte != 0 && byte != UInt8(ascii: "_") && !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private func endsWord(_ byte: UInt8, after last: UInt8) -> Bool {
        let upper = UInt8(ascii: "A")...UInt8(ascii: "Z")
        return byte == 0 || byte == UInt8(ascii: "_") || !upper.contains(last) && upper.contains(byte)
    }
}
