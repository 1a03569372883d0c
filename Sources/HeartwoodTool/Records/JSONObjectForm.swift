/// Writes objects of JSON whose members have the same names, with the names in order.
struct JSONObjectForm {
    /// All names as JSON, each with a comma before it and a colon behind.
    private let text: [UInt8]
    /// By the order of the names: the place of its text, and the index of its value.
    private let members: [(start: Int, count: Int, index: Int)]

    init(_ names: [String]) {
        let buffer = OutputBuffer()
        members = names.enumerated().sorted { $0.element < $1.element }.map { index, name in
            let start = buffer.mark
            buffer.add("," as Unicode.Scalar)
            buffer.add(json: name)
            buffer.add(":" as Unicode.Scalar)
            return (start, buffer.mark - start, index)
        }
        text = buffer.bytes
    }

    /// Adds an object.
    /// - Parameter value: adds the value of a name, by the name's index in the list. Returns false where it has none, and has added nothing then.
    @inline(__always)
    func add(to output: OutputBuffer, _ value: (Int) throws -> Bool) rethrows {
        output.add("{" as Unicode.Scalar)
        try text.withUnsafeBytes { text in
            // The first member has no comma.
            var comma = 1
            for member in members {
                let start = output.mark
                output.add(UnsafeRawBufferPointer(rebasing: text[(member.start &+ comma)..<(member.start &+ member.count)]))
                if try value(member.index) { comma = 0 } else { output.takeBack(to: start) }
            }
        }
        output.add("}" as Unicode.Scalar)
    }
}
