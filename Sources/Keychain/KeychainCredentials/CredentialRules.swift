package import FoundationEssentials

extension Credential {
  /// Checks the rules that every store has for credentials; for authors of stores.
  ///
  /// The rules limit the size of the secret and of the metadata, the names of attributes, and the
  /// expiry, which must be a date that can be stored. `secretCount` is the number of bytes of the
  /// secret, or `nil` if the secret does not change.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/tooLarge`` or
  ///   ``KeychainError/Code/invalidArgument``.
  public func checkRules(secretCount: Int?) throws(KeychainError) {
    if let secretCount, secretCount > Self.maximumSecretCount {
      throw KeychainError(
        .tooLarge,
        "the secret of \(identity) has \(secretCount) bytes; at most \(Self.maximumSecretCount) "
          + "are allowed"
      )
    }
    // Stores cannot contain this date, and without a date the credential would never expire.
    if let expires, expires.microseconds == nil, !(expires.timeIntervalSince1970 > 0) {
      throw KeychainError(
        .invalidArgument, "the expiry of \(identity) is not a date that can be stored",
        recovery: "give a date of the last or next 290,000 years, or none")
    }
    for attribute in attributes {
      guard !attribute.name.isEmpty else {
        throw KeychainError(.invalidArgument, "an attribute of \(identity) has no name")
      }
      guard !SearchablePair.reservedNames.contains(attribute.name) else {
        throw KeychainError(
          .invalidArgument,
          "the attribute name '\(attribute.name)' is reserved",
          recovery: "choose another name, or use the option of that name")
      }
    }
    guard !exceedsMetadataLimit else {
      throw KeychainError(
        .tooLarge,
        "the names, label, comment and attributes of \(identity.shortDescription) have more than "
          + "\(Self.maximumMetadataCount) bytes together",
        recovery: "shorten them, or store the long text as a secret")
    }
  }

  /// The maximum number of bytes of all names and texts of a credential together.
  ///
  /// It is 65,536 (64 KiB), including its identity and attributes, but not the port.
  public static let maximumMetadataCount = 1 << 16

  /// Whether the names and texts have more bytes than ``maximumMetadataCount``.
  package var exceedsMetadataLimit: Bool { metadataCount > Self.maximumMetadataCount }

  private var metadataCount: Int {
    let texts = [identity.accessGroup, label ?? "", comment ?? "", contentType ?? ""]
    return (texts + identity.kind.texts + attributes.flatMap { [$0.name, $0.value] })
      .reduce(0) { $0 + $1.utf8.count }
  }
}

extension Date {
  /// The time in microseconds, as stores keep it; `nil` if it is out of range.
  package var microseconds: Int64? { Int64(exactly: (timeIntervalSince1970 * 1_000_000).rounded()) }

  /// Creates a date from microseconds since 1970.
  package init(microseconds: Int64) {
    self.init(timeIntervalSince1970: Double(microseconds) / 1_000_000)
  }

  package var toMicrosecond: Date { microseconds.map(Date.init(microseconds:)) ?? self }
}

extension Credential {
  /// Sets the version and dates, as a store does when it writes.
  package mutating func stamp(version: UInt64, created: Date?, keepsDates: Bool = false) {
    let now = Date().toMicrosecond
    self.version = version
    self.created = keepsDates ? self.created.toMicrosecond : created ?? now
    modified = keepsDates ? modified.toMicrosecond : now
    expires = expires?.toMicrosecond
    isOfOtherProgram = false
  }

  /// Sets the version and dates, as a store does when it reads.
  package mutating func restore(version: UInt64, created: Date, modified: Date) {
    self.version = version
    self.created = created
    self.modified = modified
  }

  /// Returns the credential under another name, if stores accept the name.
  package func renamed(_ identity: CredentialIdentity) throws(KeychainError) -> Credential {
    var renamed = self
    renamed.identity = identity
    try renamed.checkRules(secretCount: nil)
    return renamed
  }

  /// Checks the version that a caller expects.
  package func checkVersion(_ expected: UInt64?) throws(KeychainError) {
    guard let expected, expected != version else { return }
    throw KeychainError(
      .versionConflict, "\(identity) has version \(version), not \(expected)",
      recovery: "read it again, and repeat the change if it still applies")
  }
}

extension StoreMode {
  /// Checks an existing credential against the mode.
  package func check(_ existing: Credential?, identity: CredentialIdentity) throws(KeychainError) {
    switch (self, existing) {
    case (.addOrReplace, _), (.addOnly, nil): break
    case (.addOnly, _?): throw .alreadyExists(identity)
    case (.replace, nil): throw .notFound(identity)
    case (.replace(let version), let existing?): try existing.checkVersion(version)
    }
  }
}

extension KeychainError {
  /// Creates the error for importing or migrating credentials whose names and texts are too long
  /// for every store; `nil` if there are none.
  package init?(tooLong names: [String], recovery: Recovery) {
    guard !names.isEmpty else { return nil }
    let more = names.count > 10 ? "; and \(names.count - 10) more" : ""
    self.init(
      .tooLarge,
      (names.count == 1 ? "1 credential has" : "\(names.count) credentials have")
        + " more than \(Credential.maximumMetadataCount) bytes of names, label, comment and "
        + "attributes, so nothing was changed: " + names.prefix(10).joined(separator: "; ") + more,
      recovery: recovery)
  }

  package static func alreadyExists(_ identity: CredentialIdentity) -> Self {
    Self(.alreadyExists, "\(identity) exists already")
  }

  package static func notFound(_ identity: CredentialIdentity) -> Self {
    Self(.notFound, "there is no credential \(identity)")
  }
}
