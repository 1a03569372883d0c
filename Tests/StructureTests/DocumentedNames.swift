import Foundation

/// What the pages on internals may name: the files of the sources, and each name that a source has.
struct DocumentedNames {
    /// The paths of Swift files from the repository's root, by their last component.
    private var files: [String: [String]] = [:]
    private var names: Set<String> = []
    private let isThere: (String) -> Bool

    /// - Parameter isThere: whether the repository has a path.
    init(isThere: @escaping (String) -> Bool) { self.isThere = isThere }

    /// Adds a file of the sources, with each word of its code, texts and comments.
    /// - Parameter path: from the repository's root.
    mutating func add(_ path: String, _ source: [UInt8]) {
        let last = path.split(separator: "/").last.map(String.init) ?? path
        files[last, default: []].append(path)
        names.insert(String(last.dropLast(".swift".count)))
        source.withUnsafeBufferPointer { bytes in
            var start: Int?
            for at in 0...bytes.count {
                if at < bytes.count, Self.isWord(bytes[at]) {
                    if start == nil { start = at }
                } else if let first = start {
                    // No other word is taken for a name.
                    if bytes[first] <= UInt8(ascii: "Z") { names.insert(String(decoding: bytes[first..<at], as: UTF8.self)) }
                    start = nil
                }
            }
        }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// The faults of a page's text, in its order.
    func faults(of page: String) -> [String] {
        let prose = page.replacing(/```.*?```/.dotMatchesNewlines(), with: "")
        return prose.matches(of: /`([^`\n]+)`/).compactMap { named(String($0.output.1)) } + misplaced(in: prose)
    }

    private func named(_ text: String) -> String? {
        if text.hasSuffix(".swift"), !text.contains("/"), !text.contains("*") { return files[text] == nil ? "there is no file \(text)" : nil }
        if text.wholeMatch(of: /(Sources|Tests|Plugins|Benchmarks|Examples)\/[\w.\/+-]+/) != nil {
            return isThere(text) ? nil : "there is no path \(text)"
        }
        guard text.wholeMatch(of: /[A-Z]\w*[a-z]\w*/) != nil, !names.contains(text) else { return nil }
        return "no source has the name \(text)"
    }

    /// Files of the line "Code" that lie outside the layer or target that stands before them: "Storage: `RowFilter.swift`, `RowOrder.swift`."
    private func misplaced(in page: String) -> [String] {
        guard let code = page.firstMatch(of: /- \*\*Code\*\*:(.*?)(\n- \*\*|\n\n|$)/.dotMatchesNewlines())?.output.1 else { return [] }
        var folder: String?, faults: [String] = []
        for match in code.matches(of: /([A-Z]\w+):\s|`([^`]+\.swift)`/) {
            if let label = match.output.1 { folder = String(label) }
            guard let file = match.output.2.map(String.init), let folder, let paths = files[file] else { continue }
            if !paths.contains(where: { $0.split(separator: "/").dropLast().contains { $0 == folder } }) {
                faults.append("\(file) lies not in \(folder) but is \(paths.joined(separator: ", "))")
            }
        }
        return faults
    }
}
