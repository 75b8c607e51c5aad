internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import PrephirencesSystem

extension GitCredentialHelper {
  /// How long others may keep changing a credential.
  static var retryTime: Duration { .seconds(10) }

  /// Stores the credential of a request, unless it is what would be given for the request.
  ///
  /// git stores after every use, and older versions leave out the expiry and the refresh token.
  func store(_ request: GitCredentialRequest) throws(KeychainError) {
    guard !request.isEphemeral, let server = try GitServer(request),
      let given = GitGivenSecret(request), given.scheme != nil || request.username != nil
    else { return }
    let deadline = Deadline(after: Self.retryTime)
    while true {
      do throws(KeychainError) {
        return try store(given, request, on: server)
      } catch {
        // Another program stored at the same time, perhaps the same.
        guard error.isConflict, !deadline.hasPassed else { throw error }
      }
      Deadline.pause()
    }
  }

  private func store(
    _ given: GitGivenSecret, _ request: GitCredentialRequest, on server: GitServer
  ) throws(KeychainError) {
    let matches = try matches(request, on: server).filter { given.isOfScheme(of: $0) }
    if let match = Self.meant(matches, request, server),
      let stored = try secret(of: match), stored.hasAll(of: request, given),
      try isGivenAgain(match, given, request, server)
    {
      return
    }
    let named = matches.filter { $0.hasAllNames(of: request) }
    let replaced = Self.meant(named, request, server)
    try write(
      given, request, into: replaced?.identity ?? newIdentity(given, request, server),
      replacing: replaced)
  }

  /// Returns whether git gets a credential before a person names the user.
  ///
  /// If there are several accounts, only a credential with the path of the request answers the next
  /// question.
  private func isGivenAgain(
    _ match: GitCredentialMatch, _ given: GitGivenSecret, _ request: GitCredentialRequest,
    _ server: GitServer
  ) throws(KeychainError) -> Bool {
    guard !match.hasAllNames(of: request) else { return true }
    var request = request
    request.username = nil
    let matches = try matches(request, on: server).filter { given.isOfScheme(of: $0) }
    return Self.meant(matches, request, server)?.identity == match.identity
  }

  private static func meant(
    _ matches: [GitCredentialMatch], _ request: GitCredentialRequest, _ server: GitServer
  ) -> GitCredentialMatch? {
    var request = request
    request.understandsAuthenticationTypes = true
    // If several fit equally well, none would be given.
    return (try? matches.best(for: request, on: server)) ?? nil
  }

  /// Returns the secret of a credential; `nil` if there is none that git could take.
  private func secret(of match: GitCredentialMatch) throws(KeychainError) -> GitSecret? {
    do throws(KeychainError) {
      guard let stored = try store.secret(for: match.identity) else { return nil }
      return try GitSecret(stored)
    } catch {
      guard error.code == .undecodable else { throw error }
      return nil
    }
  }

  private func write(
    _ given: GitGivenSecret, _ request: GitCredentialRequest, into identity: CredentialIdentity,
    replacing match: GitCredentialMatch?
  ) throws(KeychainError) {
    let old = try match.map { match throws(KeychainError) in try secret(of: match) } ?? nil
    // A refresh token is of the account; it stays until another one is sent. An expiry is of the
    // password.
    let token = request.refreshToken ?? old?.refreshToken
    let kept = old.flatMap { given.isEqual(to: $0) && !$0.isExpired ? $0.expires : nil }
    let update = CredentialUpdate(
      contentType: token == nil ? .clear : .set(GitSecret.contentType),
      expires: (request.expires ?? kept).map { .set($0) } ?? .clear)
    try store.merge(
      update, secret: Self.layout(given.bytes, token), into: identity,
      mode: match.map { .replace(version: $0.credential.version) } ?? .addOnly)
  }

  private static func layout(
    _ secret: SharedSecret, _ token: SharedSecret?
  ) throws(KeychainError) -> SecretBytes {
    guard let token else { return try secret.copy() }
    var lines = try GitCredentialAnswer()
    try lines.append(secret)
    try lines.append(line: "")
    try lines.append(GitSecret.refreshTokenKey, token)
    return try lines.finish(droppingLast: 1)
  }

  private func newIdentity(
    _ given: GitGivenSecret, _ request: GitCredentialRequest, _ server: GitServer
  ) -> CredentialIdentity {
    let password = InternetPassword(
      server: server.host, protocol: server.origin.protocol, port: server.port,
      path: request.path ?? "", account: request.username ?? "",
      authenticationType: given.scheme ?? "")
    return CredentialIdentity(.internetPassword(password), accessGroup: accessGroup)
  }
}
