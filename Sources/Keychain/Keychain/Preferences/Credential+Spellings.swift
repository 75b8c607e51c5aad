public import Foundation
public import KeychainCredentials

// Other names for the same things, which published programs use.
extension Credential {
  /// When the credential was added; another name for ``created``.
  public var creationDate: Date? { created }

  /// When the credential was last changed; another name for ``modified``.
  public var modificationDate: Date? { modified }

  /// When the secret can be read; another name for ``accessibility``.
  public var accessible: Accessibility { accessibility }

  /// The access group; `nil` for the unnamed one.
  public var accessGroup: String? {
    identity.accessGroup.isEmpty ? nil : identity.accessGroup
  }

  /// The account, which is the key of the preferences.
  public var account: String? { identity.account }

  /// The service of a generic password; `nil` for an internet password.
  public var service: String? {
    if case .genericPassword(let service, _) = identity.kind { service } else { nil }
  }

  /// The server of an internet password; `nil` for a generic password.
  public var server: String? {
    if case .internetPassword(let password) = identity.kind { password.server } else { nil }
  }
}

/// When a credential can be read; another name for `Accessibility`.
public typealias SecurityAttributeAccessible = Accessibility

extension Accessibility {
  /// The default accessibility: ``whenUnlocked``.
  public static var defaultOption: Self { .whenUnlocked }
}
