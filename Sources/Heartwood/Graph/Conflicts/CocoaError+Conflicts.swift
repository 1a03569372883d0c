import Foundation

#if !canImport(ObjectiveC)
    extension CocoaError {
        /// Of 133020: what the merge policy did not resolve.
        public var persistentStoreSaveConflicts: [NSMergeConflict]? {
            userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
        }
    }
#endif
