#if !canImport(Darwin)
    extension NotificationCenter {
        /// Returns the notifications that are posted from the first iteration on. None is dropped: those that come before they are asked for wait.
        /// - Parameter object: the sender; nil for every sender.
        /// Source: https://developer.apple.com/documentation/foundation/notificationcenter/notifications(named:object:)
        @_disfavoredOverload
        public func notifications(named name: Notification.Name, object: (any AnyObject & Sendable)? = nil) -> Notifications {
            Notifications(center: self, name: name, object: object)
        }

        /// Notifications, as they are posted.
        public struct Notifications: AsyncSequence, Sendable {
            public typealias Element = Notification

            fileprivate let center: NotificationCenter
            fileprivate let name: Notification.Name
            fileprivate let object: (any AnyObject & Sendable)?

            public func makeAsyncIterator() -> Iterator { Iterator(self) }

            /// The registration ends with the iterator.
            public struct Iterator: AsyncIteratorProtocol {
                private let registration: Registration
                private var posted: AsyncStream<Posted>.Iterator

                fileprivate init(_ notifications: Notifications) {
                    let (stream, continuation) = AsyncStream.makeStream(of: Posted.self)
                    registration = Registration(notifications.center, notifications.center.addObserver(
                        forName: notifications.name, object: notifications.object, queue: nil
                    ) { continuation.yield(Posted(notification: $0)) })
                    posted = stream.makeAsyncIterator()
                }

                /// - Returns: nil once the task is cancelled.
                public mutating func next() async -> Notification? { await posted.next()?.notification }

                public mutating func next(isolation actor: isolated (any Actor)?) async -> Notification? {
                    await posted.next(isolation: actor)?.notification
                }
            }
        }
    }

    private struct Posted: @unchecked Sendable {
        // Unchecked: the poster hands the notification over, as to each block of an observer.
        let notification: Notification
    }

    private final class Registration: @unchecked Sendable {
        // Unchecked: nothing changes, and a center may be used from each thread.
        private let center: NotificationCenter
        private let observer: any NSObjectProtocol

        init(_ center: NotificationCenter, _ observer: any NSObjectProtocol) {
            self.center = center
            self.observer = observer
        }

        deinit { center.removeObserver(observer) }
    }
#endif
