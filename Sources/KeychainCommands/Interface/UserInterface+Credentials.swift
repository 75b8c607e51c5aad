internal import KeychainCredentials
internal import KeychainTerminal

extension UserInterface {
  /// The table of a list of credentials.
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
      })
  }

  /// What a credential is for: the service, or the server with what is known of it.
  private static func place(_ identity: CredentialIdentity) -> String {
    switch identity.kind {
    case .genericPassword(let service, _): service
    case .internetPassword(let password):
      (password.protocol.isEmpty ? "" : "\(password.protocol):") + "//\(password.server)"
        + (password.port == 0 ? "" : ":\(password.port)")
        + (password.path.isEmpty || password.path.hasPrefix("/") ? "" : "/") + password.path
    }
  }

  /// Everything about one credential but its secret, a line each.
  static func description(of credential: Credential) -> String {
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
    return Self.lines(lines)
  }

  /// Pairs as lines, the values below each other, and on a terminal within its width.
  static func lines(
    _ pairs: [(String, String)], within columns: Int? = StandardOutput.width
  ) -> String {
    let width = pairs.map(\.0.count).max() ?? 0
    return pairs.map { name, value in
      let margin = String(repeating: " ", count: width - name.count + 1)
      let line = "\(name):\(margin)\(value.visible)"
      return (columns.map { line.wrapped(to: $0, indent: width + 2) } ?? line) + "\n"
    }.joined()
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
}
