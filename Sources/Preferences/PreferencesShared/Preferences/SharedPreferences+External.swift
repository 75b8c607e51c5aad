internal import PreferencesDurable
public import Prephirences

extension SharedPreferences {
  /// Changes that other machines have made, and that this machine has now.
  public struct ExternalChange: Sendable {
    /// Why values have changed.
    public enum Reason: Int, Hashable, Sendable {
      /// Another machine has changed them.
      case serverChange = 0

      /// The suite was in step for the first time.
      case initialSync = 1

      /// The suite has more keys or bytes than it may have.
      case quotaViolation = 2

      /// The suite follows another store from now on.
      case accountChange = 3
    }

    /// A change of this machine that was not sent, because another one was there before.
    ///
    /// It is `Sendable` because every thread can read preference values, which do not change in
    /// place once set.
    public struct LostValue: @unchecked Sendable {
      /// The key.
      public let key: PreferenceKey

      /// The value that this machine had; `nil` if it was removed here.
      public let localValue: PreferenceObject?

      /// The value that it has now; `nil` if it was removed elsewhere.
      public let sharedValue: PreferenceObject?
    }

    /// Why the values have changed.
    public let reason: Reason

    /// The keys whose values have changed, also those that were removed; each once.
    public let keys: [PreferenceKey]

    /// The conflicts that this machine has lost, in their order; a key may be lost several times.
    public let lostValues: [LostValue]
  }

  /// Calls a closure with the changes that come from other machines.
  ///
  /// Changes that this machine makes, in whichever program, are not reported.
  ///
  /// - Parameter handler: Called on a thread of its own, one call at a time.
  /// - Returns: The observation; it ends when this object is destroyed.
  public func observeExternalChanges(
    _ handler: @escaping @Sendable (ExternalChange) -> Void
  ) -> PreferenceObservation {
    store.observeExternalChanges(handler)
  }

  /// Returns the future changes that come from other machines, as a sequence.
  ///
  /// - Returns: The sequence; a slow reader gets the changes of one reason as one.
  public func externalChanges() -> ExternalChanges { ExternalChanges(of: store) }
}
