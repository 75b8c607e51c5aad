public import KeychainCredentials

extension SecretServiceStore {
  /// Observes changes; see the protocol.
  public func observe(
    _ observer: @escaping @Sendable (CredentialChange) -> Void
  ) -> CredentialObservation {
    observers.add(observer)
  }
}
