/// A declaration as a message has it: its text from the spaces and comments before it, and where in the file the text begins.
struct SyntaxNode {
    let bytes: [UInt8]
    let fileName: String
    let offset: Int

    init?(_ message: Message?) {
        guard let message, let bytes = message["source"]?.stringBytes else { return nil }
        let location = message["location"]
        self.init(bytes: bytes, fileName: location?["fileName"]?.string ?? "", offset: location?["offset"]?.integer ?? 0)
    }

    init(bytes: [UInt8], fileName: String, offset: Int) {
        self.bytes = bytes
        self.fileName = fileName
        self.offset = offset
    }

    /// A diagnostic at a byte of the text.
    func diagnostic(_ message: String, at byte: Int) -> Diagnostic {
        Diagnostic(message: message, fileName: fileName, offset: max(0, offset) &+ byte)
    }
}
