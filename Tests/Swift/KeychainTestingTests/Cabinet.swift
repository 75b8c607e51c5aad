import Foundation
import KeychainCredentials
import KeychainSecrets
import Synchronization

/// A store as a client writes one.
final class Cabinet: CredentialStore {
  /// What is wrong with a store.
  enum Fault { case forgetsCreation, repeatsVersion }

  private final class Drawer: Sendable {
    let credential: Credential
    let secret: SecretBytes

    init(_ credential: Credential, _ secret: consuming SecretBytes) {
      self.credential = credential
      self.secret = secret
    }
  }

  private struct State {
    var drawers: [CredentialIdentity: Drawer] = [:]
    var version: UInt64 = 0
    var observers: [UUID: @Sendable (CredentialChange) -> Void] = [:]

    func drawer(
      _ identity: CredentialIdentity, expectedVersion: UInt64?
    ) throws(KeychainError) -> Drawer {
      guard let drawer = drawers[identity] else {
        throw KeychainError(.notFound, "there is no credential \(identity)")
      }
      guard expectedVersion == nil || expectedVersion == drawer.credential.version else {
        throw KeychainError(.versionConflict, "\(identity) was changed")
      }
      return drawer
    }
  }

  private let fault: Fault?
  private let state = Mutex(State())

  init(_ fault: Fault? = nil) { self.fault = fault }

  func secret(for identity: CredentialIdentity) throws(KeychainError) -> StoredSecret? {
    guard let drawer = state.withLock({ $0.drawers[identity] }) else { return nil }
    return StoredSecret(credential: drawer.credential, secret: try copy(drawer.secret))
  }

  func credential(for identity: CredentialIdentity) throws(KeychainError) -> Credential? {
    state.withLock { $0.drawers[identity]?.credential }
  }

  func search(_ query: CredentialQuery) throws(KeychainError) -> CredentialSearchResult {
    let credentials = state.withLock { $0.drawers.values.map(\.credential) }
    return CredentialSearchResult(credentials: credentials.filter(query.matches))
  }

  func set(
    _ credential: Credential, secret: borrowing SecretBytes, mode: StoreMode
  ) throws(KeychainError) -> Credential {
    try credential.checkRules(secretCount: secret.count)
    guard secret.count <= 64 * 1024 else { throw KeychainError(.tooLarge, "too large") }
    let drawer = Drawer(credential, try copy(secret))
    return try change { state throws(KeychainError) in
      let old = state.drawers[credential.identity]
      switch mode {
      case .addOrReplace: break
      case .addOnly:
        guard old == nil else {
          throw KeychainError(.alreadyExists, "\(credential.identity) exists already")
        }
      case .replace(let version):
        _ = try state.drawer(credential.identity, expectedVersion: version)
      }
      let stored = try put(credential, drawer, replacing: old, in: &state)
      return (stored, [CredentialChange(stored.identity, old == nil ? .added : .updated)])
    }
  }

  func update(
    _ identity: CredentialIdentity, with update: CredentialUpdate, expectedVersion: UInt64?
  ) throws(KeychainError) -> Credential {
    try change { state throws(KeychainError) in
      let old = try state.drawer(identity, expectedVersion: expectedVersion)
      let changed = update.applied(to: old.credential)
      try changed.checkRules(secretCount: nil)
      let stored = try put(changed, old, replacing: old, in: &state)
      return (stored, [CredentialChange(identity, .updated)])
    }
  }

  func rename(
    _ identity: CredentialIdentity, to newIdentity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> Credential {
    try change { state throws(KeychainError) in
      let old = try state.drawer(identity, expectedVersion: expectedVersion)
      guard identity != newIdentity else { return (old.credential, []) }
      guard state.drawers[newIdentity] == nil else {
        throw KeychainError(.alreadyExists, "\(newIdentity) exists already")
      }
      var renamed = old.credential
      renamed.identity = newIdentity
      try renamed.checkRules(secretCount: nil)
      let stored = try put(renamed, old, replacing: old, in: &state)
      state.drawers[identity] = nil
      return (
        stored, [CredentialChange(identity, .removed), CredentialChange(newIdentity, .added)]
      )
    }
  }

  func remove(
    _ identity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> Bool {
    try change { state throws(KeychainError) in
      guard state.drawers[identity] != nil else { return (false, []) }
      _ = try state.drawer(identity, expectedVersion: expectedVersion)
      state.drawers[identity] = nil
      return (true, [CredentialChange(identity, .removed)])
    }
  }

  func observe(
    _ observer: @escaping @Sendable (CredentialChange) -> Void
  ) -> CredentialObservation {
    let key = UUID()
    state.withLock { $0.observers[key] = observer }
    return CredentialObservation { [self] in state.withLock { $0.observers[key] = nil } }
  }

  /// Changes the state, and notifies the observers afterwards.
  private func change<Result: Sendable>(
    _ body: (inout State) throws(KeychainError) -> (Result, [CredentialChange])
  ) throws(KeychainError) -> Result {
    let (result, changes, observers) = try state.withLock { state throws(KeychainError) in
      let (result, changes) = try body(&state)
      return (result, changes, Array(state.observers.values))
    }
    for change in changes { observers.forEach { $0(change) } }
    return result
  }

  /// Puts a credential into the cabinet, with the secret of a drawer.
  private func put(
    _ credential: Credential, _ drawer: Drawer, replacing old: Drawer?, in state: inout State
  ) throws(KeychainError) -> Credential {
    guard credential.accessibility != .whenPasscodeSetThisDeviceOnly else {
      throw KeychainError(.refused, "a cabinet has no passphrase")
    }
    if fault != .repeatsVersion || state.version == 0 { state.version += 1 }
    let created = fault == .forgetsCreation ? nil : old?.credential.created
    let now = Date.now
    let stored = Credential(
      credential, version: state.version, created: created ?? now, modified: now)
    state.drawers[stored.identity] = Drawer(stored, try copy(drawer.secret))
    return stored
  }

  private func copy(_ secret: borrowing SecretBytes) throws(KeychainError) -> SecretBytes {
    try secret.copy()
  }
}
