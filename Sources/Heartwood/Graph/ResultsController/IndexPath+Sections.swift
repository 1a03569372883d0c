import Foundation

// On other platforms UIKit and AppKit have these members.

#if !canImport(UIKit) && !canImport(AppKit)
    extension IndexPath {
        /// Creates the index path of an item of a section.
        public init(item: Int, section: Int) { self.init(indexes: [section, item]) }

        /// The first index.
        /// - Precondition: the path has two indexes.
        public var section: Int {
            get { self[0] }
            set { self[0] = newValue }
        }

        /// The second index.
        /// - Precondition: the path has two indexes.
        public var item: Int {
            get { self[1] }
            set { self[1] = newValue }
        }
    }
#endif

#if !canImport(UIKit)
    extension IndexPath {
        /// Creates the index path of a row of a section.
        public init(row: Int, section: Int) { self.init(indexes: [section, row]) }

        /// The second index.
        /// - Precondition: the path has two indexes.
        public var row: Int {
            get { self[1] }
            set { self[1] = newValue }
        }
    }
#endif
