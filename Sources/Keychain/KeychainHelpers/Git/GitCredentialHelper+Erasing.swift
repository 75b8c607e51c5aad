internal import KeychainCredentials
internal import KeychainSecrets
internal import PrephirencesSystem

extension GitCredentialHelper {
  /// Removes the credentials that have everything that a request says.
  ///
  /// A password that was renewed after the rejected one had been given is another one, and stays.
  /// So does what another program stored, unless it is git's own helper for libsecret.
  func erase(_ request: GitCredentialRequest) throws(KeychainError) {
    guard let server = try GitServer(request) else {
      // The passphrase of a certificate has no host.
      guard request.protocol == "cert" else { throw .gitServerMissing }
      return
    }
    var failure: KeychainError?
    for match in try matches(request, on: server) {
      do throws(KeychainError) {
        try erase(match, request)
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }

  private func erase(
    _ match: GitCredentialMatch, _ request: GitCredentialRequest
  ) throws(KeychainError) {
    let deadline = Deadline(after: Self.retryTime)
    // A store may have ours and another program's of one name.
    while let credential = try rejected(match, request) {
      // It may be right for others: the user was mistyped, or may not see this path.
      guard Self.isNamed(match, by: request) else { return report(.forOthersToo(credential)) }
      guard mayErase(credential, request) else { return report(.ofOtherProgram(credential)) }
      do throws(KeychainError) {
        try store.remove(
          match.identity, expectedVersion: credential.version,
          includingOtherPrograms: credential.isOfOtherProgram)
        return
      } catch {
        // It was changed after it was compared, so it may be another one.
        guard error.code == .versionConflict, !deadline.hasPassed else { throw error }
      }
      Deadline.pause()
    }
  }

  /// Returns whether a rejected credential is git's alone: ours, or its own helper's.
  private func mayErase(_ credential: Credential, _ request: GitCredentialRequest) -> Bool {
    erasesOthers || !credential.isOfOtherProgram
      || credential.isOfGitLibsecret && GitGivenSecret(request) != nil
  }

  /// Returns the credential as it is now, if a request rejects it.
  private func rejected(
    _ match: GitCredentialMatch, _ request: GitCredentialRequest
  ) throws(KeychainError) -> Credential? {
    guard let given = GitGivenSecret(request) else {
      return Self.isNamed(match, by: request) ? try store.credential(for: match.identity) : nil
    }
    guard given.isOfScheme(of: match), let stored = try store.secret(for: match.identity)
    else { return nil }
    do throws(KeychainError) {
      return given.isEqual(to: try GitSecret(stored)) ? stored.credential : nil
    } catch {
      // git cannot have used it.
      guard error.code == .undecodable else { throw error }
      return nil
    }
  }

  /// Returns whether a credential has the path and the user that a request sends.
  private static func isNamed(
    _ match: GitCredentialMatch, by request: GitCredentialRequest
  ) -> Bool {
    (request.path == nil || match.hasPath(of: request))
      && request.username.map { $0.hasSameBytes(as: match.password.account) } ?? true
  }
}
