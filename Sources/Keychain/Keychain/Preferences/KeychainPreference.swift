public import FoundationEssentials
public import KeychainCredentials
public import PreferencesCore

/// One value of a keychain.
///
/// ```swift
/// @KeychainPreference(key: "token")
/// var token: String?
/// ```
///
/// A failure, such as a locked vault, reads as `nil`; ``KeychainPreferences/lastError`` reports it.
/// To handle failures, use the throwing methods of ``KeychainPreferences``.
@propertyWrapper
open class KeychainPreference<T>: MutablePreference<T>, @unchecked Sendable {
  // Unchecked like the superclass, which keeps all its mutable state behind a lock.

  /// The keychain.
  public let keychain: KeychainPreferences

  /// Creates a preference.
  ///
  /// - Parameter transformation: How the value is stored. If it is `nil`, the keychain stores it
  ///   like any value of its type, including `Codable` ones.
  public init(
    keychain: KeychainPreferences = .sharedInstance, key: PreferenceKey,
    transformation: (any PreferenceTransformation)? = nil
  ) {
    self.keychain = keychain
    super.init(
      preferences: keychain, key: key,
      transformation: transformation ?? DefaultTransformation.of(T.self, encodes: false))
  }

  /// The value, or `nil` if there is none of this type; setting `nil` removes it.
  open override var wrappedValue: T? {
    get { value }
    set { value = newValue }
  }

  /// The preference itself.
  open override var projectedValue: KeychainPreference<T> { self }
}

/// One value of a keychain, with a default.
///
/// ```swift
/// @KeychainPreferenceWithDefault(key: "tries", default: 0)
/// var tries: Int
/// ```
///
/// The default is returned, and not stored, if there is no value, a value of another type, or a
/// failure; see ``KeychainPreference``. `$tries` is the ``KeychainPreference``, which can also be
/// cleared.
@propertyWrapper
public struct KeychainPreferenceWithDefault<T>: @unchecked Sendable {
  // Unchecked because the default may be of any type; nothing here changes.

  /// The preference.
  public let projectedValue: KeychainPreference<T>

  /// The value if none is stored.
  public let defaultValue: T

  /// Creates a preference with a default, which is returned if no value is stored.
  ///
  /// The transformation is as for ``KeychainPreference/init(keychain:key:transformation:)``.
  public init(
    keychain: KeychainPreferences = .sharedInstance, key: PreferenceKey,
    default defaultValue: T, transformation: (any PreferenceTransformation)? = nil
  ) {
    projectedValue = KeychainPreference(
      keychain: keychain, key: key, transformation: transformation)
    self.defaultValue = defaultValue
  }

  /// Creates a preference whose default is the initial value of the property.
  ///
  /// The transformation is as for ``KeychainPreference/init(keychain:key:transformation:)``.
  public init(
    wrappedValue: T, keychain: KeychainPreferences = .sharedInstance,
    key: PreferenceKey, transformation: (any PreferenceTransformation)? = nil
  ) {
    self.init(keychain: keychain, key: key, default: wrappedValue, transformation: transformation)
  }

  /// The value, or the default.
  public var wrappedValue: T {
    get { projectedValue.value ?? defaultValue }
    nonmutating set { projectedValue.value = newValue }
  }
}

// Names that published programs use: aliases, Apple's status numbers, and API of the released
// library that does not exist here.

extension Credential {
  /// When the credential was added; an alias of ``created``.
  public var creationDate: Date? { created }

  /// When the credential was last changed; an alias of ``modified``.
  public var modificationDate: Date? { modified }

  /// When the secret can be read; an alias of ``accessibility``.
  public var accessible: Accessibility { accessibility }

  /// The access group; `nil` for the unnamed one.
  public var accessGroup: String? { identity.accessGroup.isEmpty ? nil : identity.accessGroup }

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

/// When a credential can be read; an alias of `Accessibility`.
public typealias SecurityAttributeAccessible = Accessibility

extension Accessibility {
  /// The default accessibility: ``whenUnlocked``.
  public static var defaultOption: Self { .whenUnlocked }
}

extension KeychainPreferences {
  /// When values that are set from now on can be read; an alias of ``accessibility``.
  public var accessible: Accessibility {
    get { accessibility }
    set { accessibility = newValue }
  }

  /// Returns the text of a key, or `nil` for a failure; an alias of ``string(forKey:)``.
  public func stringForKey(_ key: String) -> String? { string(forKey: key) }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
extension Accessibility {
  /// An alias of ``whenUnlocked``.
  public static var AccessibleWhenUnlocked: Self { .whenUnlocked }

  /// An alias of ``whenUnlockedThisDeviceOnly``.
  public static var AccessibleWhenUnlockedThisDeviceOnly: Self { .whenUnlockedThisDeviceOnly }

  /// An alias of ``afterFirstUnlock``.
  public static var AccessibleAfterFirstUnlock: Self { .afterFirstUnlock }

  /// An alias of ``afterFirstUnlockThisDeviceOnly``.
  public static var AccessibleAfterFirstUnlockThisDeviceOnly: Self {
    .afterFirstUnlockThisDeviceOnly
  }

  /// An alias of ``always``.
  public static var AccessibleAlways: Self { .always }

  /// An alias of ``alwaysThisDeviceOnly``.
  public static var AccessibleAlwaysThisDeviceOnly: Self { .alwaysThisDeviceOnly }

  /// An alias of ``whenPasscodeSetThisDeviceOnly``.
  public static var AccessibleWhenPasscodeSetThisDeviceOnly: Self {
    .whenPasscodeSetThisDeviceOnly
  }
}

extension KeychainPreferences {
  /// A credential without its secret; an alias of `Credential`.
  public typealias Attribute = Credential

  /// Returns the credential of a key, as ``subscript(attribute:)`` does.
  public func attribute(forKey key: PreferenceKey) -> Attribute? { self[attribute: key] }

  /// Sets the value of a key to a URL; `nil` removes the key.
  public func set(url: URL?, forKey key: PreferenceKey) {
    set(url as PreferenceObject?, forKey: key)
  }
}

/// Not available: the initializers set the class of the items.
@available(*, unavailable, message: "init(service:) and init(server:) say which class it is")
public enum SecurityClass {
  /// The classes of Apple's keychain.
  case genericPassword, internetPassword, certificate, key, identity
}

extension KeychainPreferences {
  /// Not available: `init(service:)` creates generic passwords, `init(server:)` internet passwords.
  @available(*, unavailable, message: "init(service:) and init(server:) say which class it is")
  public var klass: SecurityClass {
    get { .genericPassword }
    set {}
  }

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

  /// Not available: it is a dialog of iOS.
  @available(*, unavailable, message: "it is a dialog of iOS; generate one by other means")
  public class func generatePassword() -> String { "" }
}

/// A status number of Apple's keychain.
public typealias OSStatus = Int32

/// No error.
public let errSecSuccess: OSStatus = 0

/// The disk is full, or the system could not read or write.
public let errSecIO: OSStatus = -36

/// An argument is invalid.
public let errSecParam: OSStatus = -50

/// There is too little memory.
public let errSecAllocate: OSStatus = -108

/// The person cancelled.
public let errSecUserCanceled: OSStatus = -128

/// An internal error.
public let errSecInternalComponent: OSStatus = -2070

/// The store refuses access to this item.
public let errSecNoAccessForItem: OSStatus = -25243

/// There is no store.
public let errSecNotAvailable: OSStatus = -25291

/// The passphrase or key is wrong.
public let errSecAuthFailed: OSStatus = -25293

/// The file is not a store.
public let errSecInvalidKeychain: OSStatus = -25295

/// An item of this name exists already.
public let errSecDuplicateItem: OSStatus = -25299

/// There is no such item.
public let errSecItemNotFound: OSStatus = -25300

/// The value is too large.
public let errSecDataTooLarge: OSStatus = -25302

/// The store is locked, and nobody may be asked to unlock it.
public let errSecInteractionNotAllowed: OSStatus = -25308

/// The bytes are not a value of the requested type.
public let errSecDecode: OSStatus = -26275

/// Another process held the store until the deadline.
public let errSecServiceNotAvailable: OSStatus = -67585

/// The store is damaged, or an older copy of itself.
public let errSecInvalidDatabaseBlob: OSStatus = -67598

/// The store was written by a newer release.
public let errSecIncompatibleDatabaseBlob: OSStatus = -67600

/// The item was changed in between.
public let errSecRecordModified: OSStatus = -67638

/// The credential has expired.
public let errSecCertificateExpired: OSStatus = -67818

extension KeychainError {
  /// The number of Apple's keychain for this kind of failure, or the nearest one.
  public var status: OSStatus { Self.statuses[code] ?? errSecInternalComponent }

  private static let statuses: [Code: OSStatus] = [
    .notFound: errSecItemNotFound,
    .alreadyExists: errSecDuplicateItem,
    .versionConflict: errSecRecordModified,
    .invalidArgument: errSecParam,
    .damaged: errSecInvalidDatabaseBlob,
    .rolledBack: errSecInvalidDatabaseBlob,
    .foreign: errSecInvalidKeychain,
    .noStore: errSecNotAvailable,
    .internalFailure: errSecInternalComponent,
    .inputOutput: errSecIO,
    .timedOut: errSecServiceNotAvailable,
    .busy: errSecServiceNotAvailable,
    .ambiguous: errSecParam,
    .locked: errSecInteractionNotAllowed,
    .incorrectSecret: errSecAuthFailed,
    .refused: errSecNoAccessForItem,
    .unsupportedFormat: errSecIncompatibleDatabaseBlob,
    .otherDevice: errSecNoAccessForItem,
    .insecurePermissions: errSecNoAccessForItem,
    .tooLarge: errSecDataTooLarge,
    .expired: errSecCertificateExpired,
    .cancelled: errSecUserCanceled,
    .insufficientMemory: errSecAllocate,
    .undecodable: errSecDecode,
    .outcomeUnknown: errSecIO,
  ]
}
