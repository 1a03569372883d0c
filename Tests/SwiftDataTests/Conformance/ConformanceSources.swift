import Testing

extension Trait where Self == Source {
    /// A page of Foundation's documentation, by its path.
    static func foundation(_ path: String) -> Source {
        Source(title: "Foundation, \(path)", address: "https://developer.apple.com/documentation/foundation/\(path)")
    }

    /// A page of Core Data's documentation, by its path.
    static func coreData(_ path: String) -> Source {
        Source(title: "Core Data, \(path)", address: "https://developer.apple.com/documentation/coredata/\(path)")
    }

    /// An article of Xu Yang's.
    static func fatbobman(_ page: String) -> Source { Source(title: "Fatbobman's Blog", address: "https://fatbobman.com/en/posts/\(page)") }

    /// An article of Keith Harrison's.
    static func useYourLoaf(_ page: String) -> Source { Source(title: "Use Your Loaf", address: "https://useyourloaf.com/blog/\(page)") }

    /// A chapter of Paul Hudson's "SwiftData by Example".
    static func byExample(_ page: String) -> Source {
        Source(title: "SwiftData by Example", address: "https://www.hackingwithswift.com/quick-start/swiftdata/\(page)")
    }

    /// Paul Hudson's rules for agents that write SwiftData code.
    static func swiftDataPro(_ about: String) -> Source {
        Source(title: "SwiftData Pro: \(about)", address: "https://github.com/twostraws/swiftdata-agent-skill")
    }

    /// A tutorial of Leo Dion's.
    static func brightDigit(_ page: String) -> Source { Source(title: "BrightDigit", address: "https://brightdigit.com/tutorials/\(page)") }
}
