/// The address of one field of a credential, as text that a file or a variable can hold in place of
/// a secret.
///
/// ```text
/// keychain://SERVICE/ACCOUNT
/// keychain+PROTOCOL://[ACCOUNT@]HOST[:PORT][/PATH]
/// ```
///
/// The first form names a generic password; an empty service, as in `keychain:///api`, is the
/// default service of whoever resolves it. The second form names an internet password, such as
/// `keychain+https://alice@git.example.com:8443`, or `keychain+://host` for one without a protocol.
///
/// Each part is percent-encoded UTF-8. A part is encoded where it has a control character, a space,
/// or one of `%/?#&`; a service or host, also where it has `@`; a host, also where it has `:`. An
/// IPv6 address is in brackets. These parameters may follow, after `?` and separated by `&`:
///
/// | parameter | meaning |
/// | --- | --- |
/// | `group=NAME` | the access group; without it, the unnamed one |
/// | `field=FIELD` | `secret` (default), `username`, `url`, `label` or `attribute:NAME` |
/// | `encoding=base64` | the field as base64 text, for bytes that are not text |
/// | `optional` | a missing credential or field is empty text; every other failure stays one |
/// | `security-domain=NAME` | of an internet password: its security domain |
/// | `authentication-type=NAME` | of an internet password: its authentication type |
///
/// An internet password may have any value of what the reference leaves out, except the protocol
/// and the port: see ``InternetPasswordPattern``. Unknown and repeated parameters are errors, and so
/// are parts that are missing, a fragment, and a user with a password.
public struct CredentialReference: Sendable {
  /// What a reference names.
  public enum Subject: Sendable {
    /// A generic password; the default service if the service is `nil` or empty.
    case genericPassword(service: String?, account: String)

    /// An internet password.
    case internetPassword(InternetPasswordPattern)
  }

  /// The part of a credential that a reference names.
  public enum Field: Sendable {
    /// The secret.
    case secret

    /// The account.
    case username

    /// The URL of an internet password, without its account: `https://host:8443/path`.
    case url

    /// The label.
    case label

    /// The value of an attribute.
    case attribute(String)
  }

  /// How a field is written.
  public enum Encoding: Hashable, Sendable {
    /// The bytes as they are.
    case none

    /// Base64 with padding, as in RFC 4648, section 4.
    case base64
  }

  /// What the reference names.
  public var subject: Subject

  /// The access group; empty for the unnamed one.
  public var accessGroup: String

  /// The part of the credential.
  public var field: Field

  /// How the part is written.
  public var encoding: Encoding

  /// Whether a missing credential or field is empty text instead of an error.
  public var isOptional: Bool

  /// Creates a reference.
  ///
  /// - Parameters:
  ///   - subject: What the reference names.
  ///   - accessGroup: The access group; empty for the unnamed one.
  ///   - field: The part of the credential.
  ///   - encoding: How the part is written.
  ///   - isOptional: Whether a missing credential or field is empty text instead of an error.
  public init(
    _ subject: Subject, accessGroup: String = "", field: Field = .secret,
    encoding: Encoding = .none, isOptional: Bool = false
  ) {
    self.subject = subject
    self.accessGroup = accessGroup
    self.field = field
    self.encoding = encoding
    self.isOptional = isOptional
  }
}
