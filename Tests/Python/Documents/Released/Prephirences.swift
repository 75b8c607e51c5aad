// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// Declarations of release 5.4.1 of the original library, as its documentation lists them, without what
// they do. Sources that shall compile against both libraries are checked against these.
import Foundation

// Replaces Apple's Security framework.
public typealias OSStatus = Int32
public let errSecSuccess: OSStatus = 0
public let errSecItemNotFound: OSStatus = -25300
public let errSecInteractionNotAllowed: OSStatus = -25308

public typealias PreferenceObject = Any
public typealias PreferenceKey = String
public typealias PreferencesDictionary = [PreferenceKey: PreferenceObject]

@dynamicMemberLookup
public protocol PreferencesType {
  func object(forKey key: PreferenceKey) -> PreferenceObject?
  func dictionary() -> PreferencesDictionary
  subscript(key: PreferenceKey) -> PreferenceObject? { get }
  subscript(dynamicMember key: PreferenceKey) -> PreferenceObject? { get }
  func hasObject(forKey key: PreferenceKey) -> Bool
  func string(forKey key: PreferenceKey) -> String?
  func integer(forKey key: PreferenceKey) -> Int
  func bool(forKey key: PreferenceKey) -> Bool
  func data(forKey key: PreferenceKey) -> Data?
}

extension PreferencesType {
  public subscript(key: PreferenceKey) -> PreferenceObject? { object(forKey: key) }
  public subscript(dynamicMember key: PreferenceKey) -> PreferenceObject? { self[key] }
  public func hasObject(forKey key: PreferenceKey) -> Bool { object(forKey: key) != nil }
  public func string(forKey key: PreferenceKey) -> String? { object(forKey: key) as? String }
  public func integer(forKey key: PreferenceKey) -> Int { object(forKey: key) as? Int ?? 0 }
  public func bool(forKey key: PreferenceKey) -> Bool { object(forKey: key) as? Bool ?? false }
  public func data(forKey key: PreferenceKey) -> Data? { object(forKey: key) as? Data }
}

@dynamicMemberLookup
public protocol MutablePreferencesType: PreferencesType {
  func set(_ value: PreferenceObject?, forKey key: PreferenceKey)
  func removeObject(forKey key: PreferenceKey)
  subscript(key: PreferenceKey) -> PreferenceObject? { get set }
  subscript(dynamicMember key: PreferenceKey) -> PreferenceObject? { get set }
  func clearAll()
}

extension MutablePreferencesType {
  public subscript(key: PreferenceKey) -> PreferenceObject? {
    get { object(forKey: key) }
    set { set(newValue, forKey: key) }
  }
  public subscript(dynamicMember key: PreferenceKey) -> PreferenceObject? {
    get { self[key] }
    set { self[key] = newValue }
  }
  public func clearAll() {}
}

public protocol PreferencesAdapter: PreferencesType {
  func keys() -> [String]
}

extension PreferencesAdapter {
  public func dictionary() -> PreferencesDictionary { [:] }
}

public enum SecurityAttributeAccessible {
  case whenUnlocked, whenUnlockedThisDeviceOnly, afterFirstUnlock, afterFirstUnlockThisDeviceOnly
  case always, whenPasscodeSetThisDeviceOnly, alwaysThisDeviceOnly
}

open class KeychainPreferences: PreferencesAdapter, MutablePreferencesType {
  /// The program's instance.
  public static var sharedInstance = KeychainPreferences(service: "Prephirences")

  /// The service.
  public let service: String?
  open var accessible = SecurityAttributeAccessible.whenUnlocked
  open var accessGroup: String?
  open var lastStatus: OSStatus?

  /// Creates preferences of a service.
  public init(service: String) { self.service = service }

  open func object(forKey key: PreferenceKey) -> PreferenceObject? { nil }
  open func string(forKey key: PreferenceKey) -> String? { nil }
  open func data(forKey key: PreferenceKey) -> Data? { nil }
  open func keys() -> [String] { [] }
  open func hasObject(forKey key: PreferenceKey) -> Bool { false }
  open func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {}
  open func removeObject(forKey key: PreferenceKey) {}
  open func clearAll() {}

  open subscript(key: PreferenceKey) -> PreferenceObject? {
    get { nil }
    set {}
  }
  open subscript(string key: PreferenceKey) -> String? {
    get { nil }
    set {}
  }
  open subscript(data key: PreferenceKey) -> Data? {
    get { nil }
    set {}
  }
}
