import Foundation

#if !canImport(ObjectiveC)
    extension CocoaError {
        /// The conflicts that the merge policy did not resolve, in an error 133020.
        public var persistentStoreSaveConflicts: [NSMergeConflict]? {
            userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
        }
    }
#endif
