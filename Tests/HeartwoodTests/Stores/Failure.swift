import Foundation

/// The error that a call throws; nil if it throws none.
func failure(_ body: () throws -> Void) -> NSError? {
    do {
        try body()
        return nil
    } catch {
        return error as NSError
    }
}
