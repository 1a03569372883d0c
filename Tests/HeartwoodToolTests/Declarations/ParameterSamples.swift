@testable import HeartwoodTool

/// Texts for an option or an argument, by the kind of its values.
enum ParameterSamples {
    /// Texts that a parameter of the kind takes. A flag has an empty one.
    static func good(_ kind: ValueKind) -> [String] {
        switch kind {
        case .flag: [""]
        case .text: ["Package"]
        case .integer(let minimum): ["\(minimum)", "\(minimum + 1)"]
        case .seconds: ["2", "0.5"]
        case .choice(let words): words
        case .predicate: ["TRUEPREDICATE"]
        case .request: ["Package: TRUEPREDICATE"]
        case .time: ["2026-11-21", "2026-11-21T12:00:00Z", "1000000"]
        case .commit: ["5", "2026-11-21"]
        case .identity: ["6F1ED002-AB5F-4F0B-9B1B-1B0B7B0B0B0B"]
        case .object: ["x-coredata://6F1ED002-AB5F-4F0B-9B1B-1B0B7B0B0B0B/Package/p1"]
        case .file, .folder, .store, .backup: ["/tmp/none.xcdatamodel"]
        case .model: [ToolProcess.model]
        case .entity: ["Package"]
        case .attributes: ["name", "name,section.name"]
        case .orders: ["name", "-name,section.name:desc"]
        case .command: ["query"]
        }
    }

    /// Texts that a parameter of the kind refuses.
    static func bad(_ kind: ValueKind) -> [String] {
        switch kind {
        case .integer(let minimum): ["\(minimum - 1)", "few", "1.5", ""]
        case .seconds: ["0", "-1", "soon", "86401"]
        case .choice: ["none-such", ""]
        case .predicate: ["name =="]
        case .request: ["Package", ": TRUEPREDICATE", "Package: name =="]
        case .time, .commit: ["soon", "2026-02-30"]
        case .identity: ["none-such"]
        case .flag, .text, .object, .file, .folder, .store, .backup, .model, .entity, .attributes, .orders, .command: []
        }
    }
}
