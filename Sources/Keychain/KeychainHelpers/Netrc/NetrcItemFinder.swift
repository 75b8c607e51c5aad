internal import KeychainCredentials
internal import KeychainSecrets
internal import PrephirencesSystem

/// Finds the one internet password that a selection means.
struct NetrcItemFinder {
  let store: any CredentialStore
  let accessGroup: String

  /// Unlocks the stores of a query, or throws.
  let unlock: (CredentialQuery) throws(KeychainError) -> Void

  /// Returns the secret of the only matching internet password, with its credential.
  ///
  /// - Throws: ``KeychainError`` as ``NetrcFile/contents(for:in:accessGroup:unlock:)``.
  func secret(for selection: NetrcSelection) throws(KeychainError) -> StoredSecret {
    let credential = try credential(for: selection)
    guard !credential.isExpired() else { throw .expiredForNetrc(credential.identity) }
    // Of what was removed since the search, a keyring finds an item of another program instead, which
    // may have fewer names.
    guard let stored = try store.secret(for: credential.identity),
      stored.credential.isOfOtherProgram == credential.isOfOtherProgram
    else { throw .nothingForNetrc(selection) }
    // It may have been replaced since the search.
    guard !stored.credential.isExpired() else { throw .expiredForNetrc(credential.identity) }
    return stored
  }

  private func credential(for selection: NetrcSelection) throws(KeychainError) -> Credential {
    let searcher = CredentialSearcher(store: store, unlock: unlock, unlocking: { _ in .unlock })
    var matching: [Credential] = []
    for query in queries(selection) {
      matching += try searcher.credentials(matching: query) { Self.matches($0, selection) }
    }
    let found = Self.best(of: CredentialIdentity.withoutReplaced(matching))
    guard found.count <= 1 else { throw .ambiguousForNetrc(selection, found.map(\.identity)) }
    guard let only = found.first else { throw .nothingForNetrc(selection) }
    return only
  }

  /// Stores compare bytes, so the host as it was written is asked for, too; an IPv6 address may be
  /// stored with its brackets.
  private func queries(_ selection: NetrcSelection) -> [CredentialQuery] {
    let isAddress = selection.host.utf8.contains(UInt8(ascii: ":"))
    let hosts =
      [selection.host]
      + (selection.writtenHost.hasSameBytes(as: selection.host) ? [] : [selection.writtenHost])
    let servers = hosts.flatMap { isAddress ? [$0, "[\($0)]"] : [$0] }
    return servers.map {
      CredentialQuery(accessGroup: accessGroup, server: $0, account: selection.account)
    }
  }

  /// Returns whether a password is for the port that is meant: the usual one if none is named.
  private static func matches(_ credential: Credential, _ selection: NetrcSelection) -> Bool {
    guard let password = credential.internetPassword, rank(of: password) != nil,
      !credential.isDockerLogin
    else { return false }
    return ServerOrigin(protocol: "https", host: selection.host, port: selection.port)
      == ServerOrigin(protocol: "https", host: selection.host, port: password.port)
  }

  /// Keeps the passwords that are meant first: of the best protocol, then those for the whole host.
  private static func best(of credentials: [Credential]) -> [Credential] {
    let ranked = credentials.compactMap { credential in
      credential.internetPassword.flatMap(rank).map { (credential, $0) }
    }
    guard let best = ranked.map(\.1).min(by: <) else { return [] }
    return ranked.filter { $0.1 == best }.map(\.0)
  }

  /// The protocols of passwords that are handed over.
  ///
  /// Who reads a netrc file sends its passwords by any protocol, so none is taken that was stored for
  /// another one.
  private static let protocols = ["https", ""]

  private static func rank(of password: InternetPassword) -> (Int, Int)? {
    let name = password.protocol.foldingASCIICase
    return protocols.firstIndex { $0.hasSameBytes(as: name) }.map {
      ($0, password.path.isEmpty ? 0 : 1)
    }
  }
}

extension Credential {
  fileprivate var internetPassword: InternetPassword? {
    if case .internetPassword(let password) = identity.kind { password } else { nil }
  }

  /// Whether docker has stored it, for a registry of containers.
  fileprivate var isDockerLogin: Bool {
    [DockerCredentialHelper.mark, DockerOtherProgram.mark].contains { mark in
      attributes[mark.name]?.hasSameBytes(as: mark.value) ?? false
    }
  }
}
