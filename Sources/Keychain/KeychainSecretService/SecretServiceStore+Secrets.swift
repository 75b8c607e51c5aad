public import KeychainCredentials
internal import KeychainSecrets

extension SecretServiceStore {
  /// Reads the secrets of all credentials that match a query, with a few messages for all of them.
  ///
  /// - Parameters:
  ///   - query: The conditions, as for ``search(_:)``.
  ///   - body: Called with each secret and its credential, in no particular order. The provider is
  ///     not waiting meanwhile, so it may take long.
  /// - Returns: What was found. Credentials that were removed meanwhile are left out.
  /// - Throws: ``KeychainError`` as ``search(_:)`` does, with ``KeychainError/Code/locked`` if the
  ///   keyring is locked, or what `body` throws; it may have received secrets before.
  @discardableResult
  public func secrets(
    matching query: CredentialQuery,
    _ body: (consuming StoredSecret) throws(KeychainError) -> Void
  ) throws(KeychainError) -> CredentialSearchResult {
    try run { operation throws(KeychainError) in
      let items = try ItemFinder(operation).items(matching: query)
      var gone: Set<String> = []
      for start in stride(from: 0, to: items.count, by: ServiceOperation.batchCount) {
        let batch = items[start..<min(start + ServiceOperation.batchCount, items.count)]
        let encrypted = try operation.encryptedSecrets(of: batch.filter { $0.credential != nil })
        for item in batch {
          guard let credential = item.credential else { continue }
          guard let stored = try operation.secret(of: item, encrypted[item.path]) else {
            gone.insert(item.path)
            continue
          }
          operation.mustNotRepeat = true
          let start = ContinuousClock.now
          try body(StoredSecret(credential: credential, secret: stored))
          operation.giveBackTime(since: start)
        }
      }
      return CredentialSearchResult(items: items.filter { !gone.contains($0.path) })
    }
  }
}
