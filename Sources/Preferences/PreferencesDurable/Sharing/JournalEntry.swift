package import Foundation
package import Prephirences

/// A change of the file that did not come from a local writer, or what a program has decided.
package struct JournalEntry: @unchecked Sendable {
  package enum Reason: Int, Sendable {
    case serverChange = 0
    case initialSync = 1
    case quotaViolation = 2
    case accountChange = 3
    /// A program of this machine has decided a conflict.
    case decision = 4
  }

  package let number: Int64
  package let date: Date
  package let reason: Reason
  package let key: PreferenceKey
  /// Before and after; a conflict that was lost has the local value in `old`.
  package let old: PreferenceObject?
  package let new: PreferenceObject?
  package let isConflict: Bool
  package let writer: WriterTag?
}
