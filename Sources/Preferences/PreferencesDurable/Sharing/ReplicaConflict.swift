package import Prephirences

/// A unit that waits for a decision, since a key of it was changed elsewhere.
package struct ReplicaConflict: Sendable {
  package struct Value: @unchecked Sendable {
    package let key: PreferenceKey
    package let local: PreferenceObject?
    package let shared: PreferenceObject?
  }

  package let values: [Value]
  package let isTransaction: Bool
  /// Why an earlier decision failed.
  package let message: String?
  /// Its first unit.
  let unit: Int64
  /// What `resolve` compares.
  package let token: [UInt8]
}

/// What becomes of a conflict.
package enum ReplicaDecision: @unchecked Sendable {
  case takeShared
  case keepLocal
  /// New values; a key that is not listed takes the shared value.
  case set([(key: PreferenceKey, value: PreferenceObject?)])
}
