public import KeychainCredentials
public import KeychainVault

extension AutomaticStore {
  /// Makes several changes of the credentials of one service (or server) in one step, if they lie in
  /// the vault.
  ///
  /// The desktop keyring has no transactions: whoever writes several items there may be stopped
  /// after some. So a service that is kept there is refused, and nothing is changed.
  ///
  /// See ``KeychainVault/Vault/withTransaction(unlocking:_:)`` for what a transaction promises, and
  /// for when the closure runs again. No migration moves the service meanwhile.
  ///
  /// - Parameters:
  ///   - identity: A credential of the service. Credentials of other services are refused within the
  ///     transaction, because they may be in another store.
  ///   - requirement: What is unlocked before the closure runs.
  ///   - body: Reads and changes credentials.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws; ``KeychainError`` of the vault, or with
  ///   ``KeychainError/Code/refused`` if the service is kept in the desktop keyring.
  @discardableResult
  public func withTransaction<Result>(
    serviceOf identity: CredentialIdentity,
    unlocking requirement: Accessibility.UnlockRequirement = .nothing,
    _ body: (inout VaultTransaction) throws -> Result
  ) throws -> Result {
    // Asked first, so that a store which cannot do it is not recorded.
    let found = try decision(for: identity)
    let scope = TransactionScope(
      serviceOf: identity, adding: .whenUnlocked, unlocking: requirement)
    guard found.place == .vault, let result = try inOneStep(scope, body) else {
      throw KeychainError(
        .refused,
        "\(ServiceName(identity)) is kept in the desktop keyring, which has no transactions",
        recovery: "change its credentials one by one, or keep it in the vault")
    }
    return result
  }
}

extension AutomaticStore: TransactionalStore {
  /// Makes several changes of the credentials of one service in one step; `nil` if they are not in
  /// the vault.
  ///
  /// A service without a store gets one, as by storing its first credential, unless nothing is
  /// added.
  package func inOneStep<Result>(
    _ scope: TransactionScope, _ body: (inout VaultTransaction) throws -> Result
  ) throws -> Result? {
    let service = ServiceName(scope.identity)
    let first = scope.accessibility.map {
      FirstCredential(
        identity: scope.identity, accessibility: $0, mode: .addOrReplace, mayExist: true)
    }
    let ofService = TransactionScope(
      serviceOf: scope.identity, adding: scope.accessibility, unlocking: scope.requirement,
      among: { ServiceName($0) == service })
    var thrown: (any Error)?
    do throws(KeychainError) {
      return try changing(service, adding: first) { _, store throws(KeychainError) in
        do {
          return try store.inOneStep(ofService, body)
        } catch let error as KeychainError {
          throw error
        } catch {
          thrown = error
          throw KeychainError(.cancelled, "the closure of the transaction failed")
        }
      }
    } catch {
      throw thrown ?? error
    }
  }
}
