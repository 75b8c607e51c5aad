internal import FoundationEssentials
internal import KeychainCredentials
internal import KeychainSecretService
internal import KeychainSecrets
internal import KeychainStores
internal import PrephirencesCommandLine
internal import PrephirencesSystem

enum CredentialText {
  /// Returns the table of a list; it shows stores to programs, and to people if there are several.
  ///
  /// Another program's item is marked in a separate column, because ours may have the same names.
  static func table(_ listed: [ListedCredential], forPrograms: Bool) -> TextTable {
    let table = table(listed.map(\.credential))
    var (header, rows) = (table.header, table.rows)
    if forPrograms || Set(listed.map { Array($0.store.utf8) }).count > 1 {
      header.append("STORE")
      rows = zip(rows, listed).map { $0 + [$1.store] }
    }
    if listed.contains(where: \.credential.isOfOtherProgram) {
      header.append("PROGRAM")
      rows = zip(rows, listed).map { row, listed in
        let mark = listed.credential.isOfOtherProgram ? otherProgram : nil
        return row + (mark.map { [$0] } ?? (forPrograms ? [] : [""]))
      }
    }
    return TextTable(header: header, rows: rows, nameCount: 2)
  }

  /// The mark of another program's item in a list.
  static let otherProgram = "other"

  static func table(_ credentials: [Credential]) -> TextTable {
    TextTable(
      header: ["SERVICE", "ACCOUNT", "GROUP", "ACCESSIBILITY", "MODIFIED", "EXPIRES", "LABEL"],
      rows: credentials.map { credential in
        [
          place(credential.identity), credential.identity.account,
          credential.identity.accessGroup, credential.accessibility.description,
          DateText.text(credential.modified), credential.expires.map(DateText.text) ?? "",
          credential.label ?? "",
        ]
      }, nameCount: 2)
  }

  /// Returns the service of a credential, or the server with its other names.
  private static func place(_ identity: CredentialIdentity) -> String {
    switch identity.kind {
    case .genericPassword(let service, _): service
    case .internetPassword(let password):
      (password.protocol.isEmpty ? "" : "\(password.protocol):") + "//" + host(of: password)
        + (password.port == 0 ? "" : ":\(password.port)")
        + (password.path.isEmpty || password.path.hasPrefix("/") ? "" : "/") + password.path
    }
  }

  /// A name that contains a port must not look like a host and a port.
  private static func host(of password: InternetPassword) -> String {
    password.protocol.isEmpty || !HostName.hasMore(password.server)
      ? password.server : password.server.percentEncoded(keeping: "")
  }

  static let hostInCapitals =
    "clients such as git look for the host in lower case, and don't find this one; 'rename' "
    + "with --to-server writes it so"

  /// Returns the items of other programs without a credential's names, for a terminal.
  static func table(_ items: [UnlistedItem]) -> TextTable {
    TextTable(
      header: ["ITEM OF ANOTHER PROGRAM", "MODIFIED", "ATTRIBUTES"],
      rows: items.map { item in
        [item.label, modified(item), pairs(item).joined(separator: " ")]
      })
  }

  /// Returns these items for a pipe: the fields of credentials, then a field for each attribute.
  static func fields(_ items: [UnlistedItem]) -> TextTable {
    TextTable(
      header: [],
      rows: items.map { item in
        ["", "", "", "", modified(item), "", item.label, StoreChoice.secretService.rawValue]
          + pairs(item)
      })
  }

  private static func modified(_ item: UnlistedItem) -> String {
    item.modified.map(DateText.text) ?? ""
  }

  private static func pairs(_ item: UnlistedItem) -> [String] {
    item.attributes.map { "\($0.name)=\($0.value)" }
  }

  /// Reports that a list is empty, in terms of the search.
  static func nothingListed(
    _ query: CredentialQuery, _ filter: ListFilterOptions, isNarrower: Bool
  ) -> String {
    let names = [
      query.account.map { "account '\($0)'" }, query.service.map { "service '\($0)'" },
      query.server.map { "server '\($0)'" },
      query.accessGroup.flatMap { $0.isEmpty ? nil : "access group '\($0)'" },
    ].compactMap(\.self)
    let subject = names.isEmpty ? "" : " of the \(names.joined(separator: " and the "))"
    let which = isNarrower ? " that matches" : ""
    if filter.isActive {
      let time = filter.expiringWithin.map { "expires within \(DurationText.text($0))" }
      return "no credential\(subject)\(which) \(isNarrower ? "and " : "")\(time ?? "has expired")"
    }
    return "there is no credential\(subject)\(which)"
  }

  static func unlisted(_ count: Int) -> String {
    "\(Words.items(count)) of other programs \(Words.are(count)) not listed; --other-programs "
      + "shows "
      + (count == 1 ? "it" : "them")
  }

  /// Returns everything about a credential except its secret.
  static func facts(of credential: Credential) -> [(String, String)] {
    var lines = names(credential.identity)
    lines += [
      ("accessibility", credential.accessibility.description),
      ("label", credential.label), ("comment", credential.comment),
      ("content type", credential.contentType),
    ].compactMap { name, value in value.map { (name, $0) } }
    lines += credential.attributes.map { ("attribute", "\($0.name)=\($0.value)") }
    lines += [
      ("created", DateText.text(credential.created)),
      ("modified", DateText.text(credential.modified)),
    ]
    if let expires = credential.expires {
      lines.append((credential.isExpired() ? "expired" : "expires", DateText.text(expires)))
    }
    lines.append(("version", String(credential.version)))
    return lines
  }

  private static func names(_ identity: CredentialIdentity) -> [(String, String)] {
    let group = identity.accessGroup.isEmpty ? [] : [("group", identity.accessGroup)]
    switch identity.kind {
    case .genericPassword(let service, let account):
      return [("service", service), ("account", account)] + group
    case .internetPassword(let password):
      let named = [
        ("server", password.server), ("protocol", password.protocol),
        ("port", password.port == 0 ? "" : String(password.port)), ("path", password.path),
        ("security domain", password.securityDomain),
        ("authentication type", password.authenticationType),
      ]
      return named.filter { !$0.1.isEmpty } + [("account", password.account)] + group
    }
  }

  /// The hint for a password marked as a registry's login that has more names than such a login.
  static let noLoginOfRegistry =
    "clients of docker do not get it: name the registry with --server alone, with its port in the "
    + "name"

  /// Reports that a new credential is next to an item of the same name.
  static func isNextToOthers(_ identity: CredentialIdentity) -> String {
    "another program has an item of the same name in the desktop keyring, which stays as it is: "
      + "from now on \(identity) is the one stored here"
  }

  /// Reports that the expiry of an older secret was removed.
  static func expiryIsGone(_ expiry: Date) -> String {
    "the expiry \(DateText.text(expiry)) was removed with the old secret"
  }

  /// Explains how to give the new secret an expiry; the old one is only offered if it has not
  /// passed.
  static func keepingExpiry(_ expiry: Date) -> String {
    expiry > Date()
      ? "--expires gives the new secret one, and --keep-expiry keeps that of the old one"
      : "--expires gives the new secret one"
  }

  static let keptExpiryHasPassed =
    "the expiry that was kept has passed; 'get' prints the secret with --allow-expired only"
}

extension KeychainError {
  static func expired(_ credential: Credential) -> Self {
    let date = credential.expires.map { " on \(DateText.text($0))" } ?? ""
    return Self(
      .expired, "\(credential.identity) expired\(date)",
      recovery: "store a new secret, or read the old one with --allow-expired")
  }

  /// The error if several items match a search for one.
  static func ambiguous(_ credentials: [Credential], _ items: [UnlistedItem]) -> Self {
    let names =
      credentials.map(\.identity.description)
      + items.map { "the item '\($0.label)' of another program" }
    return Self(
      .ambiguous, "\(names.count) items match: \(names.joined(separator: "; "))",
      recovery: "name more of the attributes; '\(KeychainCommandContext.current.commandPath) list "
        + "--other-programs\(KeychainCommandContext.current.scopeOption())' shows those of other "
        + "programs"
    )
  }

  static let unlistedIsGone = KeychainError(
    .notFound, "the item was removed from the desktop keyring meanwhile")

  static func nowhere(_ account: String) -> Self {
    Self(.notFound, "there is no credential '\(account)' of any service or server")
  }

  /// The error if nothing is listed because everything is locked.
  static func allLocked(
    _ count: Int, _ unlocking: KeychainError.Recovery
  ) -> Self {
    Self(
      .locked, "nothing can be listed: \(Words.locked(count))",
      recovery: unlocking)
  }

  static func damagedRecords(_ paths: [String], hasDeviceKey: Bool) -> Self {
    Self(
      .damaged,
      "which store some services have is not known, as these records cannot be read: "
        + paths.joined(separator: "; "),
      recovery: StoreText.findingTheStore(hasDeviceKey: hasDeviceKey))
  }
}

// MARK: - JSON

extension Credential: JSONConvertible {
  var json: JSONValue { .members(members) }

  /// The members of its object; a version is text, because JSON readers that use doubles would lose
  /// digits.
  var members: JSONMembers {
    identity.members + [
      ("accessibility", accessibility.description), ("label", label), ("comment", comment),
      ("contentType", contentType), ("attributes", attributes), ("created", created),
      ("modified", modified), ("expires", expires), ("expired", isExpired()),
      ("otherProgram", isOfOtherProgram ? JSONValue.bool(true) : nil),
      ("version", String(version)),
    ]
  }
}

extension CredentialIdentity: JSONConvertible {
  var json: JSONValue { .members(members) }

  fileprivate var members: JSONMembers {
    let kindMembers: JSONMembers =
      switch kind {
      case .genericPassword(let service, _): [("kind", "genericPassword"), ("service", service)]
      case .internetPassword(let password):
        [
          ("kind", "internetPassword"), ("server", password.server),
          ("protocol", password.protocol), ("port", password.port), ("path", password.path),
          ("securityDomain", password.securityDomain),
          ("authenticationType", password.authenticationType),
        ]
      }
    return kindMembers + [("accessGroup", accessGroup), ("account", account)]
  }
}

extension CredentialAttributes: JSONConvertible {
  var json: JSONValue { .members(map { ($0.name, $0.value) }) }
}

extension UnlistedItem: JSONConvertible {
  var json: JSONValue { .members(members) }

  /// The members of its object; unknown values are omitted.
  var members: JSONMembers {
    [
      ("kind", "otherProgram"), ("store", StoreChoice.secretService.rawValue), ("label", label),
      ("attributes", attributes), ("created", created), ("modified", modified),
    ]
  }
}

enum SecretJSON {
  /// The members of a secret: as text if possible, otherwise in Base64.
  static func members(_ bytes: RawSpan) -> JSONMembers {
    if let text = bytes.text { return [("encoding", "utf-8"), ("secret", text)] }
    return [("encoding", "base64"), ("secret", Data(bytes.array).base64EncodedString())]
  }
}
