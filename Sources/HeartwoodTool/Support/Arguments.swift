/// A command's arguments, sorted into options, flags and positional arguments.
struct Arguments {
    private(set) var positional: [String] = []
    private var options: [String: String] = [:]
    private var flags: Set<String> = []

    init(_ words: [String], options known: Set<String>, flags knownFlags: Set<String>) throws {
        var index = 0
        var endsOptions = false
        while index < words.count {
            // The only short option.
            let word = words[index] == "-o" ? "--output" : words[index]
            index += 1
            // A single dash is standard input; two dashes end the options.
            guard !endsOptions, word.hasPrefix("-"), word != "-" else {
                positional.append(word)
                continue
            }
            guard word != "--" else {
                endsOptions = true
                continue
            }
            guard word.hasPrefix("--") else { throw ToolError.usage("there is no option \(word)") }
            let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            if knownFlags.contains(parts[0]), parts.count == 1 {
                flags.insert(parts[0])
            } else if known.contains(parts[0]) {
                if parts.count == 2 {
                    options[parts[0]] = parts[1]
                } else {
                    guard index < words.count else { throw ToolError.usage("--\(parts[0]) needs a value") }
                    options[parts[0]] = words[index]
                    index += 1
                }
            } else {
                throw ToolError.usage("there is no option --\(parts[0])")
            }
        }
    }

    subscript(option: String) -> String? { options[option] }

    func has(_ flag: String) -> Bool { flags.contains(flag) }

    func required(_ option: String) throws -> String {
        guard let value = options[option] else { throw ToolError.usage("--\(option) is missing") }
        return value
    }

    func integer(_ option: String, default value: Int, from minimum: Int = 0) throws -> Int {
        guard let text = options[option] else { return value }
        guard let number = Int(text), number >= minimum else {
            throw ToolError.usage("--\(option) takes a whole number of at least \(minimum), not \"\(text)\"")
        }
        return number
    }

    /// Requires exactly these positional arguments.
    func exactly(_ names: [String]) throws -> [String] {
        guard positional.count == names.count else {
            throw ToolError.usage(
                positional.count < names.count
                    ? "\(names[positional.count]) is missing" : "\"\(positional[names.count])\" is one argument too many")
        }
        return positional
    }
}
