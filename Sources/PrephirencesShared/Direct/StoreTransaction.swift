package import Foundation
package import Prephirences
package import PrephirencesDurable

/// What one revision of the engine has changed in a store.
package struct StoreTransaction: Sendable {
  package struct Change: Sendable {
    package let key: PreferenceKey
    /// The rows before and after; `nil` if there was none.
    package let old: SharedRow?
    package let new: SharedRow?
  }

  package let revision: Int64
  package let changes: [Change]

  /// When it was made by the clock of its machine; `nil` if that is not known.
  package var date: Date?
  /// Who has made it; `nil` if another tool than this package has.
  package var writer: WriterTag?
  /// What the machine of the writer was called then, as it says itself.
  package var machine: String?

  /// Whether the engine still has what was there before.
  package let hasOld: Bool
}
