#if ConfigurationSupport
public import Configuration
internal import PrephirencesConfiguration
internal import KeychainCredentials
internal import KeychainVault

extension KeychainProvider {
  /// Passes the present value of a key to a handler, and then each change by any program.
  ///
  /// Changes by other processes are noticed when they are made, without polling. If several are
  /// made while the handler is busy, it gets the last one. A failure, such as an expiry, is one
  /// element until something else happens. If another program locks the vault, nothing in it
  /// changes, so this is noticed with the next change.
  ///
  /// While the vault cannot be read, it is read again after two seconds, and then at least every
  /// ten; after a wrong passphrase or key, every minute; if the kernel gives no notifications,
  /// every two seconds. Watching does not keep the vault unlocked. A keyed hash of the value, not
  /// the value, is kept for comparison.
  ///
  /// - Parameters:
  ///   - key: The key; one that is not declared is `nil`, and never changes.
  ///   - updatesHandler: Gets the values; the sequence ends with its task. Its result is returned.
  /// - Throws: What the handler throws.
  public func watchValue<Return: ~Copyable>(
    forKey key: AbsoluteConfigKey, type: ConfigType,
    updatesHandler: (
      ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>
    ) async throws -> Return
  ) async throws -> Return {
    guard let declared = declared[key] else {
      return try await watchValueFromValue(forKey: key, type: type, updatesHandler: updatesHandler)
    }
    let watch = try await SecretWatch(vault) { $0 == declared.identity }
    defer { watch.end() }
    let updates = ChangingElements(after: watch.signals.stream) { [self] in
      let secret = await fetchSecret(of: declared.identity)
      watch.lookAgain([secret], allowsExpired: allowsExpired)
      do throws(KeychainError) {
        let result = try declared.result(secret, type)
        return (Result<_, any Error>.success(result), marks.mark(of: secret))
      } catch {
        return (.failure(error), .failure(error))
      }
    }
    return try await updatesHandler(ConfigUpdatesAsyncSequence(updates))
  }

  /// Passes the present snapshot to a handler, and then one after each change of a declared key.
  ///
  /// The changes of one transaction are one snapshot; see
  /// ``watchValue(forKey:type:updatesHandler:)``.
  ///
  /// - Throws: As ``watchValue(forKey:type:updatesHandler:)``.
  public func watchSnapshot<Return: ~Copyable>(
    updatesHandler: (ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>) async throws -> Return
  ) async throws -> Return {
    let identities = declared.identities
    let watch = try await SecretWatch(vault) { identities.contains($0) }
    defer { watch.end() }
    let updates = ChangingElements(after: watch.signals.stream) { [self] in
      let read = await vault.reading { vault throws(KeychainError) in
        try vault.sharedSecrets(for: identities)
      }
      let snapshot = snapshot(of: read)
      watch.lookAgain(snapshot.secrets, allowsExpired: allowsExpired)
      return (snapshot as any ConfigSnapshot, snapshot.secrets.map(marks.mark(of:)))
    }
    return try await updatesHandler(ConfigUpdatesAsyncSequence(updates))
  }
}
#endif
