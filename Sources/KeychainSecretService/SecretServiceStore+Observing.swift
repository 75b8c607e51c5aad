public import KeychainCredentials

extension SecretServiceStore {
  /// Observes changes; see the protocol.
  ///
  /// Changes by other programs are told as well, as long as the provider signals them (KeePassXC doesn't
  /// while it saves). Two changes of one item in a row may be told as one. Nothing is told while the
  /// collection is locked: what is locked is not removed. Once it is unlocked, whatever differs from before is
  /// told. The first observer waits until the provider answers, or the deadline has passed; after the provider
  /// or the bus ended, listening is tried again every two seconds, which starts no provider.
  ///
  /// - Parameter observer: Called on an arbitrary thread. It must not wait for the store.
  /// - Returns: Keeps the observation alive; it ends when this is destroyed.
  public func observe(
    _ observer: @escaping @Sendable (CredentialChange) -> Void
  ) -> CredentialObservation {
    watch.observe(observer)
  }
}
