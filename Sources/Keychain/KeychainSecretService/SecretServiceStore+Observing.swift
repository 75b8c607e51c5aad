public import KeychainCredentials

extension SecretServiceStore {
  /// Observes changes; see the protocol.
  ///
  /// Changes by other programs are reported as well if the provider signals them (KeePassXC doesn't
  /// while it saves). Two quick changes of an item may be reported as one. Nothing is reported
  /// while the collection is locked, because a locked item is not removed; after unlocking, all
  /// differences are reported. The first observer waits until the provider answers or the deadline
  /// has passed. After the provider or the bus has ended, listening is retried every two seconds,
  /// without starting a provider.
  ///
  /// - Parameter observer: Called on an arbitrary thread. It must not wait for the store.
  /// - Returns: The observation, which ends when this object is destroyed.
  public func observe(
    _ observer: @escaping @Sendable (CredentialChange) -> Void
  ) -> CredentialObservation {
    watch.observe(observer)
  }
}
