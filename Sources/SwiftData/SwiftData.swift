// Makes `import SwiftData` work on platforms without Apple's framework: existing code gets Heartwood's models under the name that it uses.

#if !canImport(Darwin)
    // Code that imports only SwiftData also uses URL, Date, Data, UndoManager and Observable, which Apple's framework exports again.
    @_exported import Foundation
    @_exported import Heartwood
    @_exported import HeartwoodSwiftData
    @_exported import Observation
#endif
