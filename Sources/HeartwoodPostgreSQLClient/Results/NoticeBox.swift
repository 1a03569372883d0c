/// Passes a connection's notices on. libpq holds it without a reference, so the connection keeps it.
final class NoticeBox: Sendable {
    private let library: LibPQ
    private let receive: (@Sendable (PostgreSQLNotice) -> Void)?

    init(_ library: LibPQ, _ receive: (@Sendable (PostgreSQLNotice) -> Void)?) {
        self.library = library
        self.receive = receive
    }

    /// Without a receiver libpq prints notices.
    func attach(to connection: LibPQ.Connection) {
        _ = library.setNoticeReceiver(
            connection,
            { box, answer in
                guard let box, let answer else { return }
                Unmanaged<NoticeBox>.fromOpaque(box).takeUnretainedValue().pass(answer)
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    private func pass(_ answer: LibPQ.Answer) {
        guard let receive else { return }
        func field(_ code: CInt) -> String? { library.resultErrorField(answer, code).map { String(cString: $0) } }
        receive(
            PostgreSQLNotice(
                severity: field(LibPQField.severity) ?? "", state: field(LibPQField.state) ?? "", message: field(LibPQField.message) ?? "",
                detail: field(LibPQField.detail)))
    }
}
