public import KeychainCredentials

extension KeychainPreferences {
  /// Calls a closure with the key of each value that changes, whoever changes it.
  ///
  /// With a vault, changes by other programs are reported too, without polling. The access group is
  /// the one that is set when the observation begins.
  ///
  /// - Parameter observer: Called on an arbitrary thread, after the change is durable, with the
  ///   key; or with `nil` if a locked credential was changed, which may or may not be one of these
  ///   preferences. It must not wait for the store.
  /// - Returns: The observation, which ends when this object is destroyed.
  public func observe(_ observer: @escaping @Sendable (String?) -> Void) -> CredentialObservation {
    let (kind, accessGroup) = (kind, accessGroup ?? "")
    return store.observe { change in
      guard let identity = change.identity else { return observer(nil) }
      let key = identity.account
      guard identity == CredentialIdentity(kind.with(account: key), accessGroup: accessGroup)
      else { return }
      observer(key)
    }
  }

  /// Returns the keys of the values that change from now on, as a sequence; see ``observe(_:)``.
  ///
  /// The observation ends with the iteration.
  ///
  /// - Returns: The sequence.
  public func changes() -> AsyncStream<String?> {
    AsyncStream { continuation in
      let observation = observe { continuation.yield($0) }
      continuation.onTermination = { _ in observation.cancel() }
    }
  }
}
