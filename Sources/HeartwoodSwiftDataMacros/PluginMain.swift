/// The executable that a compiler starts: it reads messages from standard input and writes answers to standard output.
@main
enum PluginMain {
    static func main() {
        guard let channel = MessageChannel() else { return }
        // A message that is cut off or is no JSON ends the plugin: the place of the next is not known. The compiler says so at the macro.
        while let bytes = channel.next(), let message = Message(bytes) {
            guard channel.send(Plugin.answer(to: message)) else { return }
        }
    }
}
