import Foundation
import Heartwood

/// A separate process for tests of the stack: `heartwood-testprocess STORE`. It executes each line of its input (`GraphRequest` as JSON), answers
/// with a line (`GraphReply`), and ends with its input.
@main
struct GraphProcess {
    static func main() throws {
        if CommandLine.arguments[1] == "--queues" { QueueChain.run() }
        if CommandLine.arguments[1] == "--without-sqlite" { return ProgramWithoutSQLite.run() }
        let hand = GraphHand(
            GraphHand.context(try GraphHand.coordinator(NSRecordLogStoreType, at: URL(fileURLWithPath: CommandLine.arguments[1]))))
        while let line = readLine() {
            var reply = GraphReply()
            do {
                try answer(try JSONDecoder().decode(GraphRequest.self, from: Data(line.utf8)), hand, &reply)
            } catch {
                reply.failure = "\(error)"
            }
            // Unbuffered.
            FileHandle.standardOutput.write(try JSONEncoder().encode(reply) + [UInt8(ascii: "\n")])
        }
    }

    private static func answer(_ request: GraphRequest, _ hand: GraphHand, _ reply: inout GraphReply) throws {
        hand.context.refreshAllObjects()
        try hand.load()
        switch request {
        case .commit(let edits):
            for edit in edits { try hand.run(edit) }
            try hand.context.save()
        case .look:
            for number in hand.objects.keys { reply.sights[number] = hand.sight(number) }
        }
    }
}
