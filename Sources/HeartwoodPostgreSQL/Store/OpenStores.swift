import Foundation
import Synchronization

/// Where the stores are that this program has open, by their identities.
enum OpenStores {
    private static let locations = Mutex<[UUID: [StoreLocation]]>([:])

    static func add(_ location: StoreLocation, _ identity: UUID) { locations.withLock { $0[identity, default: []].append(location) } }

    static func remove(_ location: StoreLocation, _ identity: UUID) {
        locations.withLock { locations in
            guard let place = locations[identity]?.firstIndex(where: { $0.connection == location.connection }) else { return }
            locations[identity]?.remove(at: place)
        }
    }

    static func location(of identity: UUID) -> StoreLocation? { locations.withLock { $0[identity]?.last } }
}
