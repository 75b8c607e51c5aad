internal import PreferencesDurable
public import Prephirences

extension SharedPreferences {
  /// Changes of this machine that another machine has changed, too, before they were sent.
  ///
  /// It is `Sendable` because every thread can read preference values, which do not change in place
  /// once set.
  public struct Conflict: @unchecked Sendable {
    /// The values of a key.
    public struct Value: @unchecked Sendable {
      /// The key.
      public let key: PreferenceKey

      /// The value on this machine; `nil` if it was removed here.
      public let local: PreferenceObject?

      /// The value in the shared store; `nil` if it was removed there.
      public let shared: PreferenceObject?
    }

    /// The keys with their values; all keys of a transaction, also those that only this machine has
    /// changed.
    public let values: [Value]

    /// Whether the changes were made in one ``SharedPreferences/transaction(_:)``.
    public let isTransaction: Bool

    /// Why an earlier decision failed; `nil` if there was none.
    public let earlierFailure: String?
  }

  /// What to do about a ``Conflict``.
  public enum Resolution: @unchecked Sendable {
    /// Forget the changes of this machine.
    case takeShared

    /// Send the changes of this machine, based on what the shared store has now.
    case keepLocal

    /// Set these values, and send them; a key that is not listed takes the shared value, and `nil`
    /// removes a key.
    case set([(key: PreferenceKey, value: PreferenceObject?)])
  }
}

extension SharedPreferences.Conflict {
  init(_ conflict: ReplicaConflict) {
    values = conflict.values.map { Value(key: $0.key, local: $0.local, shared: $0.shared) }
    isTransaction = conflict.isTransaction
    earlierFailure = conflict.message
  }
}

extension SharedPreferences.Resolution {
  var decision: ReplicaDecision {
    switch self {
    case .takeShared: .takeShared
    case .keepLocal: .keepLocal
    case .set(let values): .set(values)
    }
  }
}
