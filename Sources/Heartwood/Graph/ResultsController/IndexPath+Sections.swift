import Foundation

// UIKit and AppKit have these where they are.

#if !canImport(UIKit) && !canImport(AppKit)
    extension IndexPath {
        /// Names an item of a section.
        public init(item: Int, section: Int) { self.init(indexes: [section, item]) }

        /// The first index.
        /// - Precondition: there are two.
        public var section: Int {
            get { self[0] }
            set { self[0] = newValue }
        }

        /// The second index.
        /// - Precondition: there are two.
        public var item: Int {
            get { self[1] }
            set { self[1] = newValue }
        }
    }
#endif

#if !canImport(UIKit)
    extension IndexPath {
        /// Names a row of a section.
        public init(row: Int, section: Int) { self.init(indexes: [section, row]) }

        /// The second index.
        /// - Precondition: there are two.
        public var row: Int {
            get { self[1] }
            set { self[1] = newValue }
        }
    }
#endif
