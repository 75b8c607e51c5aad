internal import FoundationEssentials
internal import Glibc
internal import KeychainCredentials
internal import KeychainStores

/// A credential whose value is renewed.
struct RenewableItem<Value: Codable & Sendable>: Sendable {
  let store: any CredentialStore
  let identity: CredentialIdentity
  let accessibility: Accessibility

  /// The stored value; `nil` if there is none.
  struct Current: Sendable {
    let item: StoredItem?
    let value: Value?
  }

  enum Need: Sendable {
    case none(Value)
    case renewal(of: Current)
  }

  init(_ keychain: KeychainPreferences, _ key: String) {
    store = keychain.store
    identity = keychain.identity(for: key)
    accessibility = keychain.accessibility
  }

  /// Reads the value, whether it has expired or not.
  func current() throws(KeychainError) -> Current {
    let item = try store.item(identity)
    return Current(item: item, value: try item?.value.value(as: Value.self))
  }

  /// Returns whether the value must be renewed, and checks that a new one can be stored.
  ///
  /// The check writes the current value again; without one, it only checks that the store is
  /// unlocked. A server may accept a refresh token only once, so a locked store or a full disk must
  /// be found before the token is used.
  func need(_ isValid: (Value) -> Bool) throws(KeychainError) -> Need {
    for _ in 0..<Self.maximumAttempts {
      let current = try current()
      if let value = current.value, isValid(value) { return .none(value) }
      guard let item = current.item else {
        try store.checkStoring(identity, accessibility)
        return .renewal(of: current)
      }
      do throws(KeychainError) {
        let written = try store.replace(item, item.credential, by: item.value)
        let again = StoredItem(credential: written ?? item.credential, value: item.value)
        return .renewal(of: Current(item: again, value: current.value))
      } catch { guard error.isConflict else { throw error } }
    }
    throw KeychainError(.busy, "others keep changing \(identity)", recovery: .tryAgain)
  }

  /// Replaces the old value by the renewed one, and returns the stored value.
  ///
  /// It may be a valid value that another program has stored in the meantime.
  func save(
    _ value: Value, expires: Date?, replacing old: Current, _ isValid: (Value) -> Bool
  ) throws(UnsavedValueError<Value>) -> Value {
    do throws(KeychainError) {
      let stored = try TypedSecret(encoding: value)
      let update = CredentialUpdate(
        contentType: FieldChange(to: stored.contentType), expires: FieldChange(to: expires))
      return try write(stored, update, replacing: old.item, isValid) ?? value
    } catch { throw UnsavedValueError(value, identity, error) }
  }

  /// Writes a renewed value, and retries after temporary errors and changes of attributes.
  ///
  /// It returns a value that another program has stored in the meantime, and which stays; `nil` if
  /// the value was written.
  private func write(
    _ new: TypedSecret, _ update: CredentialUpdate, replacing old: StoredItem?,
    _ isValid: (Value) -> Bool
  ) throws(KeychainError) -> Value? {
    var old = old
    var pauses = Self.pauses[...]
    for _ in 0..<Self.maximumAttempts {
      let base = old?.credential ?? Credential(identity, accessibility: accessibility)
      do throws(KeychainError) {
        try store.replace(old, update.applied(to: base), by: new)
        return nil
      } catch {
        if error.isConflict {
          switch try successor(of: old, isValid) {
          case .other(let other): return other
          case .same(let item): old = item
          }
        } else {
          guard Self.passing.contains(error.code), let pause = pauses.popFirst() else {
            throw error
          }
          usleep(pause)
        }
      }
    }
    throw KeychainError(.busy, "others keep changing it", recovery: .tryAgain)
  }

  private enum Successor {
    /// Another program stored a different value, which is valid.
    case other(Value)

    /// The value is the old one: only attributes were changed.
    case same(StoredItem?)
  }

  /// Reads the value that another program has stored in the meantime; keeps it unless it is
  /// invalid.
  private func successor(
    of old: StoredItem?, _ isValid: (Value) -> Bool
  ) throws(KeychainError) -> Successor {
    guard let item = try store.item(identity) else {
      guard old != nil else { return .same(nil) }
      throw KeychainError(.notFound, "it was removed meanwhile")
    }
    if let old, old.value.isSame(as: item.value) { return .same(item) }
    if let value = try? item.value.value(as: Value.self), isValid(value) { return .other(value) }
    throw KeychainError(
      .versionConflict, "another value was stored meanwhile, which is not valid either")
  }

  private static var maximumAttempts: Int { 16 }

  /// The pause, in microseconds, before each retry after a temporary error.
  private static var pauses: [UInt32] { [100_000, 500_000, 1_000_000] }

  /// Temporary errors.
  ///
  /// Each call of the store has already waited until its deadline. A write that may have happened
  /// can be repeated, because it expects the old version: if it has happened, the next read finds
  /// its value.
  private static var passing: Set<KeychainError.Code> {
    [.busy, .timedOut, .inputOutput, .outcomeUnknown]
  }
}
