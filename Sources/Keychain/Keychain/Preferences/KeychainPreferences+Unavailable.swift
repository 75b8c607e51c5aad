public import Foundation

// API of the released library that does not exist here: each declaration says what to use instead.
// Without these, some names would be keys.

/// Not available: the initializers set the class of the items.
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

/// Not available: the protocol of an internet password is text.
@available(*, unavailable, message: "it is text: the argument of init(server:protocol:)")
public enum SecurityAttributeProtocol {
  /// The protocols of Apple's keychain.
  case ftp, ftps, ftpAccount, ftpProxy, http, https, httpProxy, httpsProxy, irc, nntp, pop3, smtp,
    socks, imap, ldap, appleTalk, afp, telnet, ssh, smb, rtsp, rtspProxy, daap, eppc, ipp, nntps,
    ldaps,
    telnetS, imaps, ircs, pop3S
}

/// Not available: the authentication of an internet password is text.
@available(*, unavailable, message: "it is text: the argument of init(server:authenticationType:)")
public enum SecurityAttributeAuthentication {
  /// The kinds of authentication of Apple's keychain.
  case httpBasic, httpDigest, htmlForm, ntlm, msn, dpa, rpa, `default`
}

extension KeychainPreferences {
  /// Not available: `init(service:)` creates generic passwords, `init(server:)` internet passwords.
  @available(*, unavailable, message: "init(service:) and init(server:) say which class it is")
  public var klass: SecurityClass {
    get { .genericPassword }
    set {}
  }

  /// Not available: an argument of the initializer.
  @available(*, unavailable, message: "it is an argument of init(server:protocol:)")
  public var `protocol`: String? { nil }

  /// Not available: an argument of the initializer.
  @available(*, unavailable, message: "it is an argument of init(server:authenticationType:)")
  public var authentication: String? { nil }

  /// Not available: the configuration of the vault sets how a person is asked.
  @available(*, unavailable, message: "how a person is asked is in Vault.Configuration")
  public var authenticationPrompt: String? {
    get { nil }
    set {}
  }

  /// Not available: the configuration of the vault sets how a person is asked.
  @available(*, unavailable, message: "how a person is asked is in Vault.Configuration")
  public var authenticationContext: AnyObject? {
    get { nil }
    set {}
  }

  /// Not available: text is always UTF-8.
  @available(*, unavailable, message: "text is UTF-8; set data for any other encoding")
  public var stringEncoding: String.Encoding {
    get { .utf8 }
    set {}
  }

  /// Not available: it is a dialog of iOS.
  ///
  /// - Returns: Nothing.
  @available(*, unavailable, message: "it is a dialog of iOS; generate one by other means")
  public class func generatePassword() -> String { "" }
}
