package import Foundation
package import Prephirences

/// Changes that were not acknowledged.
package struct UnsentChanges: Sendable {
  package var keys: [PreferenceKey]
  /// Whether one of them is in the unit that is numbered, and may have been performed.
  package var mayHaveHappened: Bool
  /// Whether all of them wait for a decision, or were set aside.
  package var areWaiting: Bool
  package init(keys: [PreferenceKey], mayHaveHappened: Bool, areWaiting: Bool) {
    self.keys = keys
    self.mayHaveHappened = mayHaveHappened
    self.areWaiting = areWaiting
  }
}

/// What is unsent of a key, for lists of changes.
package struct UnsentChange: Sendable {
  package let key: PreferenceKey
  /// Whether the last change is a removal.
  package let isRemoval: Bool
  /// When the first unsent change was made.
  package let date: Date
  /// Whether a change waits for a decision, or was set aside.
  package let waits: Bool

  package init(key: PreferenceKey, isRemoval: Bool, date: Date, waits: Bool) {
    self.key = key
    self.isRemoval = isRemoval
    self.date = date
    self.waits = waits
  }
}

/// Why a unit is not sent.
package enum SetAsideReason: Int, Hashable, Sendable, Codable {
  case permission = 1
  case newerForm = 2
  case tooLarge = 3
  case noSpace = 4
  /// What the engine has of a key is damaged.
  case damaged = 5
}

package struct SharingState: Sendable {
  package var settings: SharingSettings
  package var identity: [UInt8]?
  package var writer: WriterTag
  /// The row `w/<tag>` as the engine had it last; `nil` if it has none.
  package var writerRow: [UInt8]?
  /// The revision up to which the shadow is the engine's; 0 before the first contact.
  package var revision: Int64
  package var isReadOnly: Bool
  package var unsentKeys: Int
  package var unsentBytes: Int
  package var oldestUnsent: Date?
  package var report: SharingReport?
  package var setAside: [(keys: [PreferenceKey], reason: SetAsideReason, message: String)]
  /// The keys whose rows have a newer form.
  package var newerKeys: [PreferenceKey]
  /// The keys whose rows are damaged.
  package var damagedKeys: [PreferenceKey]
}
