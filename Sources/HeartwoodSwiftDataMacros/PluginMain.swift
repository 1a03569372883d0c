import HeartwoodSwiftDataExpansions

/// The executable that a compiler starts.
@main
enum PluginMain {
    static func main() { PluginRun.serve() }
}
