public import KeychainCredentials

extension KeychainPreferences {
  /// Calls a closure with the key of each value that changes, whoever changes it.
  ///
  /// With a vault, changes by other programs are told too; nothing is polled. The access group is
  /// that of the moment at which the observation begins.
  ///
  /// - Parameter observer: Called on an arbitrary thread, after the change is durable, with the key;
  ///   or with `nil` if something that is locked was changed, which may be a value of these
  ///   preferences or another one. It must not wait for the store.
  /// - Returns: Keeps the observation alive; it ends when this is destroyed.
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

  /// The keys of the values that change from now on, as a sequence; see ``observe(_:)``.
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
