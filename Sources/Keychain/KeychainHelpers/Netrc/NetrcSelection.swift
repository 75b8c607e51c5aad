public import KeychainCredentials
internal import KeychainSecrets
internal import PrephirencesSystem

/// A server whose password is written to a netrc file: `[ACCOUNT@]HOST[:PORT]`.
///
/// A netrc file has hosts, but no protocols or ports: its readers send the entry's password to
/// every port of the host. The port of a selection only chooses between the passwords of one host;
/// without it, the password for the usual port of `https` is meant.
///
/// ```swift
/// let selection = try NetrcSelection("alice@packages.example.com")
/// let text = try NetrcFile.contents(for: [selection], in: store)
/// print(text.count)
/// ```
public struct NetrcSelection: Hashable, Sendable {
  /// The host name or address, with ASCII capitals as small letters, and without brackets.
  public let host: String

  /// The account; `nil` for the only one of the host.
  public let account: String?

  /// The port of the password; `nil` for the usual one of `https`.
  public let port: UInt16?

  /// The host in its original case.
  let writtenHost: String

  /// Reads a selection.
  ///
  /// - Parameter text: `HOST`, optionally with an account and `@` before it, and `:` and a port
  ///   after it. An IPv6 address with a port is in brackets. An account may contain `@`. It is
  ///   percent-decoded, and `:`, `/` and `%` are written `%3A`, `%2F` and `%25`.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/invalidArgument`` if it is a URL; if the
  ///   account is empty or has `:` or `/`, which may belong to a password; if the port is not a
  ///   number from 1 to 65535; or if the host is empty or has invalid characters. The error does
  ///   not repeat the text.
  public init(_ text: String) throws(KeychainError) {
    let parts = text.utf8.lastIndex(of: UInt8(ascii: "@")).map {
      (text[..<$0], text[$0...].dropFirst())
    }
    guard let address = NetrcAddress(String(parts?.1 ?? text[...])) else {
      throw .invalidNetrcSelection
    }
    if let written = parts?.0 {
      let isName = !written.utf8.contains { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }
      guard isName, let name = String(written).percentDecoded, !name.isEmpty else {
        throw .invalidNetrcAccount
      }
      account = name
    } else {
      account = nil
    }
    host = address.host
    writtenHost = address.writtenHost
    port = address.port
  }

  /// Compares the parts as bytes.
  public static func == (left: Self, right: Self) -> Bool {
    left.description.hasSameBytes(as: right.description)
  }

  /// Hashes the parts as bytes.
  public func hash(into hasher: inout Hasher) { description.hashUTF8(into: &hasher) }
}

extension NetrcSelection: CustomStringConvertible {
  /// The selection in the form for a command line.
  public var description: String {
    (account.map { $0.percentEncoded(keeping: "@") + "@" } ?? "") + address
  }

  /// The selection without its account.
  var address: String { port.map { address("\($0)") } ?? host }

  /// Returns the host with a port.
  func address(_ port: String) -> String {
    (host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host) + ":" + port
  }
}

/// Finds the only internet password for a selection.
struct NetrcItemFinder {
  let store: any CredentialStore
  let accessGroup: String

  /// Unlocks the stores of a query, or throws.
  let unlock: (CredentialQuery) throws(KeychainError) -> Void

  /// Returns the secret of the only matching internet password, with its credential.
  func secret(for selection: NetrcSelection) throws(KeychainError) -> StoredSecret {
    let credential = try credential(for: selection)
    guard !credential.isExpired() else { throw .expiredForNetrc(credential.identity) }
    // If the credential was removed since the search, a keyring finds an item of another program
    // instead, which may have fewer names.
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

  /// Stores compare bytes, so this also asks for the host in its original case; an IPv6 address may
  /// be stored with its brackets.
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

  /// Returns whether a password is for the selected port, which is the usual one if none is named.
  private static func matches(_ credential: Credential, _ selection: NetrcSelection) -> Bool {
    guard let password = credential.internetPassword, rank(of: password) != nil,
      !credential.isDockerLogin
    else { return false }
    return ServerOrigin(protocol: "https", host: selection.host, port: selection.port)
      == ServerOrigin(protocol: "https", host: selection.host, port: password.port)
  }

  /// Keeps the best passwords: of the best protocol, then those for the whole host.
  private static func best(of credentials: [Credential]) -> [Credential] {
    let ranked = credentials.compactMap { credential in
      credential.internetPassword.flatMap(rank).map { (credential, $0) }
    }
    guard let best = ranked.map(\.1).min(by: <) else { return [] }
    return ranked.filter { $0.1 == best }.map(\.0)
  }

  /// The protocols of passwords that may be returned.
  ///
  /// Readers of a netrc file use its passwords with any protocol, so passwords that were stored for
  /// another protocol are not used.
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

  /// Whether docker stored it, for a registry of containers.
  fileprivate var isDockerLogin: Bool {
    [DockerCredentialHelper.mark, DockerOtherProgram.mark].contains { mark in
      attributes[mark.name]?.hasSameBytes(as: mark.value) ?? false
    }
  }
}

/// A host, perhaps with a port, as a netrc file or a command line names it.
struct NetrcAddress {
  /// The host in lower case, without brackets.
  let host: String

  /// The host in its original case, without brackets.
  let writtenHost: String

  /// The port; `nil` if none is given.
  let port: UInt16?

  /// Reads `HOST`, `HOST:PORT`, or an IPv6 address, which needs brackets if a port follows; `nil`
  /// for any other text.
  init?(_ text: String) {
    guard text.foldingASCIICase.utf8.allSatisfy(Self.allowed.contains) else { return nil }
    var host = text[...]
    var port: Substring?
    if text.utf8.first == UInt8(ascii: "[") {
      guard let end = text.firstIndex(of: "]") else { return nil }
      host = text[..<end].dropFirst()
      let rest = text[end...].dropFirst()
      guard rest.isEmpty || rest.first == ":" else { return nil }
      port = rest.isEmpty ? nil : rest.dropFirst()
    } else if let colon = text.firstIndex(of: ":"), text.lastIndex(of: ":") == colon {
      (host, port) = (text[..<colon], text[colon...].dropFirst())
    }
    guard !host.isEmpty, !host.contains("["), !host.contains("]") else { return nil }
    writtenHost = String(host)
    self.host = writtenHost.foldingASCIICase
    guard let port else {
      self.port = nil
      return
    }
    guard port.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
      let number = UInt16(port), number > 0
    else { return nil }
    self.port = number
  }

  /// The characters of hosts and addresses, with `%` for the zone of an IPv6 address.
  private static let allowed = Set("abcdefghijklmnopqrstuvwxyz0123456789.-_:[]%".utf8)
}
