public import Foundation

// What programs may use of the released library and does not exist here: each says what to do instead.
// Without these, some would be keys.

/// Not here: the initialisers say of which class the items are.
@available(*, unavailable, message: "init(service:) and init(server:) say which class it is")
public enum SecurityClass {
  /// A generic password.
  case genericPassword

  /// An internet password.
  case internetPassword

  /// A certificate.
  case certificate

  /// A key.
  case key

  /// A certificate with its key.
  case identity
}

extension KeychainPreferences {
  /// Not here: `init(service:)` makes generic passwords, `init(server:)` internet passwords.
  @available(*, unavailable, message: "init(service:) and init(server:) say which class it is")
  public var klass: SecurityClass {
    get { .genericPassword }
    set {}
  }

  /// Not here: an argument of the initialiser.
  @available(*, unavailable, message: "it is an argument of init(server:protocol:)")
  public var `protocol`: String? { nil }

  /// Not here: an argument of the initialiser.
  @available(*, unavailable, message: "it is an argument of init(server:authenticationType:)")
  public var authentication: String? { nil }

  /// Not here: how a person is asked is in the configuration of the vault.
  @available(*, unavailable, message: "how a person is asked is in Vault.Configuration")
  public var authenticationPrompt: String? {
    get { nil }
    set {}
  }

  /// Not here: how a person is asked is in the configuration of the vault.
  @available(*, unavailable, message: "how a person is asked is in Vault.Configuration")
  public var authenticationContext: AnyObject? {
    get { nil }
    set {}
  }

  /// Not here: text is always UTF-8.
  @available(*, unavailable, message: "text is UTF-8; set data for any other encoding")
  public var stringEncoding: String.Encoding {
    get { .utf8 }
    set {}
  }

  /// Not here: it is a dialog of iOS.
  ///
  /// - Returns: Nothing.
  @available(*, unavailable, message: "it is a dialog of iOS; generate one by other means")
  public class func generatePassword() -> String { "" }
}
