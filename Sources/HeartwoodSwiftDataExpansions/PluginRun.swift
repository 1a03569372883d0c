/// Serves a compiler that has started the plugin.
package enum PluginRun {
    /// Reads messages from standard input and writes answers to standard output, until the input ends.
    package static func serve() {
        guard let channel = MessageChannel() else { return }
        // A message that is cut off or is no JSON ends the plugin: the place of the next is not known. The compiler says so at the macro.
        while let bytes = channel.next(), let message = Message(bytes) {
            guard channel.send(Plugin.answer(to: message)) else { return }
        }
    }
}
