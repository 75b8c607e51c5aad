internal import Foundation
public import KeychainCredentials
public import Prephirences
internal import Synchronization

/// Preferences in which some values are references to credentials, which are resolved when they are
/// read.
///
/// ```swift
/// // The file has "token" = "keychain:///api".
/// let settings = ReferencePreferences(
///   DurablePreferences.standard, resolving: ["token"], service: "com.example.deploy")
/// let token = try settings.string(for: "token")  // the secret, which is in no file
/// ```
///
/// A value is resolved if it is the text of a ``CredentialReference``, its key is declared, and the
/// value is the user's own, as `OwnValuePreferences` defines: that of `DurablePreferences`, also
/// within composites and proxies. So a server, an environment variable or an argument cannot make
/// the program read a secret and send it somewhere. The reference must name a service and an access
/// group that are declared. If one of these fails, reading fails: a declared key never returns the
/// text of a reference.
///
/// References in arrays and dictionaries are not resolved. Other values, and those of other keys,
/// are returned as the preferences have them.
///
/// A declared key takes references only, and `nil`: any other value is refused, so that no secret
/// gets into the preferences. To change a secret, change its credential.
///
/// Don't make them a member of composites or proxies, whose observers would be given secrets, and
/// which would take a failure for a missing value.
///
/// ``dictionary()`` and observers show references, not secrets. An observer is notified if the
/// reference changes, not if the credential does.
///
/// The throwing methods report each failure: ``KeychainError`` for a reference, and the error of the
/// preferences for these. The methods and subscripts of `MutablePreferencesType` return `nil` for a
/// failure, and ``lastError`` reports it. Nothing is cached, and calls block the thread.
public final class ReferencePreferences: @unchecked Sendable {
  // Unchecked because the preferences guard themselves; nothing else but the failure changes, which
  // is behind a lock.

  /// The preferences that have the references.
  public let preferences: any PreferencesType

  /// The keys whose values are resolved.
  public let declaredKeys: [PreferenceKey]

  /// The services and servers that references may name.
  public let declaredServices: [String]

  /// The access groups that references may name.
  public let declaredAccessGroups: [String]

  let resolver: ReferenceResolver

  private let failure = Mutex<(any Error)?>(nil)

  /// Creates preferences that resolve references.
  ///
  /// - Parameters:
  ///   - preferences: The preferences that have the references.
  ///   - keys: The keys whose values are resolved; keys compare as bytes.
  ///   - service: The service of references that name none.
  ///   - others: More services and servers that references may name.
  ///   - accessGroups: The access groups that references may name; the unnamed one if it is left
  ///     out.
  ///   - store: The store of the credentials.
  public init(
    _ preferences: any PreferencesType, resolving keys: [PreferenceKey], service: String,
    alsoFrom others: [String] = [], accessGroups: [String] = [""],
    store: any CredentialStore = KeychainPreferences.defaultStore
  ) {
    self.preferences = preferences
    declaredKeys = keys
    declaredServices = [service] + others
    declaredAccessGroups = accessGroups
    resolver = ReferenceResolver(store: store, defaultService: service)
  }

  /// The failure of the last non-throwing call, on any thread; `nil` if it succeeded.
  ///
  /// It is a ``KeychainError`` for a reference, and the error of the preferences for these.
  public var lastError: (any Error)? { failure.withLock(\.self) }

  func record(_ error: (any Error)?) { failure.withLock { $0 = error } }

  /// Performs a call that does not throw, and records its failure.
  @discardableResult
  func recorded<Result>(_ body: () throws -> Result) -> Result? {
    do {
      let result = try body()
      record(nil)
      return result
    } catch {
      record(error)
      return nil
    }
  }
}
