// Made by heartwood generate --swiftdata. Changes are lost when it runs again.

import Foundation
import SwiftData

@Model
public final class Buoy: Mooring {
    public override init(code: String) {
        super.init(code: code)
    }
}
