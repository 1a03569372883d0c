/// The members of a to-many relationship in one field of a CSV file: their keys, separated by semicolons. A backslash precedes a semicolon or a
/// backslash in a key.
enum MemberList {
    /// nil for no members.
    static func text(_ members: [String]) -> String? {
        guard !members.isEmpty else { return nil }
        return members.map { member in
            guard member.utf8.contains(where: { [UInt8(ascii: ";"), UInt8(ascii: "\\")].contains($0) }) else { return member }
            var result = String.UnicodeScalarView()
            for scalar in member.unicodeScalars {
                if scalar == ";" || scalar == "\\" { result.append("\\") }
                result.append(scalar)
            }
            return String(result)
        }.joined(separator: ";")
    }

    /// The members without empty ones between others. A backslash before any other character stands for itself.
    static func members(_ text: String) -> [String] {
        let scalars = text.unicodeScalars
        guard scalars.contains(where: { $0 == ";" || $0 == "\\" }) else { return [text] }
        var members: [String.UnicodeScalarView] = [.init()]
        var index = scalars.startIndex
        while index < scalars.endIndex {
            let scalar = scalars[index]
            index = scalars.index(after: index)
            if scalar == "\\", index < scalars.endIndex, scalars[index] == ";" || scalars[index] == "\\" {
                members[members.count - 1].append(scalars[index])
                index = scalars.index(after: index)
            } else if scalar == ";" {
                members.append(.init())
            } else {
                members[members.count - 1].append(scalar)
            }
        }
        return members.map { String($0) }.filter { !$0.isEmpty }
    }
}
