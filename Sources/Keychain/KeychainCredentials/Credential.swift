public import FoundationEssentials

/// A credential without its secret: its names, its attributes, and when its secret is readable.
///
/// ```swift
/// let credential = Credential(
///   .genericPassword(service: "mytool", account: "me"), label: "Example API",
///   expires: .now + 90 * 86_400, attributes: ["environment": "staging"])
/// try store.store(credential, secret: SecretBytes(copying: "hunter2"))
/// ```
public struct Credential: Hashable, Sendable {
  /// The names of the credential.
  public var identity: CredentialIdentity

  /// When the secret can be read.
  public var accessibility: Accessibility

  /// A name for people.
  public var label: String?

  /// A remark for people.
  public var comment: String?

  /// The type of the secret's bytes, as a media type such as `text/plain; charset=utf-8`.
  public var contentType: String?

  /// When the secret stops being valid.
  ///
  /// An expired credential is not deleted automatically.
  public var expires: Date?

  /// Pairs that searches match.
  public var attributes: CredentialAttributes

  /// When the credential was added; set by the store, to the microsecond.
  public package(set) var created: Date

  /// When the credential was last changed; set by the store, to the microsecond.
  public package(set) var modified: Date

  /// A number that no other state of the credential has; set by the store.
  ///
  /// Pass it as `expectedVersion`, so that a change fails if another program has made one in
  /// between.
  public package(set) var version: UInt64

  /// Whether another program stored the credential in its own form; set by the store.
  ///
  /// Only stores that programs share, such as the desktop keyring, have such credentials.
  public package(set) var isOfOtherProgram = false

  /// All attributes of another program's item, its names and its schema included; empty for ours.
  package var itemAttributes = CredentialAttributes()

  /// Creates a credential to be stored.
  ///
  /// - Parameters:
  ///   - identity: The names of the credential.
  ///   - accessibility: When the secret can be read.
  ///   - label: A name for people.
  ///   - comment: A remark for people.
  ///   - contentType: The type of the secret's bytes.
  ///   - expires: When the secret stops being valid; kept to the microsecond.
  ///   - attributes: Pairs that searches match.
  public init(
    _ identity: CredentialIdentity,
    accessibility: Accessibility = .whenUnlocked,
    label: String? = nil,
    comment: String? = nil,
    contentType: String? = nil,
    expires: Date? = nil,
    attributes: CredentialAttributes = [:]
  ) {
    self.identity = identity
    self.accessibility = accessibility
    self.label = label
    self.comment = comment
    self.contentType = contentType
    self.expires = expires
    self.attributes = attributes
    created = .distantPast
    modified = .distantPast
    version = 0
  }

  /// Creates a credential as a store keeps it; for authors of stores.
  ///
  /// Programs that use a store need no such value: the store returns one for each credential.
  ///
  /// ```swift
  /// func stored(_ given: Credential, replacing old: Credential?, version: UInt64) -> Credential {
  ///   let now = Date.now
  ///   return Credential(given, version: version, created: old?.created ?? now, modified: now)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - description: The identity, accessibility and attributes of the credential. Its expiry is
  ///     rounded to the microsecond; its version and dates are not used.
  ///   - version: A number that the credential never had before.
  ///   - created: When the credential was added, which stays when it is replaced; rounded to the
  ///     microsecond.
  ///   - modified: When the credential was last changed; rounded to the microsecond.
  public init(
    _ description: Credential, version: UInt64, created: Date, modified: Date
  ) {
    self = description
    expires = expires?.toMicrosecond
    isOfOtherProgram = false
    restore(
      version: version, created: created.toMicrosecond, modified: modified.toMicrosecond)
  }

  /// Returns whether the secret is no longer valid.
  ///
  /// - Parameter date: The time of the check.
  /// - Returns: `true` if an expiry is set and has passed.
  public func isExpired(at date: Date = Date()) -> Bool {
    expires.map { $0 <= date } ?? false
  }

  /// The maximum number of bytes in a secret: 16 MiB.
  public static let maximumSecretCount = 16 << 20
}
