internal import KeychainCredentials
internal import KeychainHelpers
internal import KeychainSecrets
internal import KeychainStores
internal import KeychainVault
internal import PrephirencesText

/// Takes the passwords of a netrc file into the stores of their servers.
struct NetrcImport: ~Copyable {
  /// What the store has of an item.
  enum State {
    case absent, same, differing
  }

  let stores: AutomaticStore
  let file: NetrcFile
  let plan: NetrcImportPlan

  /// Whether existing credentials that differ are replaced.
  let isOverwriting: Bool

  /// What the stores have of each item, in the order of the plan.
  let states: [State]

  /// Compares a file with the stores, and changes nothing.
  init(
    _ text: consuming SecretBytes, into stores: AutomaticStore, overwriting: Bool
  ) throws(KeychainError) {
    let file = try NetrcFile(text)
    let plan = try NetrcImportPlan(file)
    var states: [State] = []
    for item in plan.items {
      states.append(try Self.state(of: item, in: stores, file))
    }
    self.stores = stores
    self.file = file
    self.plan = plan
    self.states = states
    isOverwriting = overwriting
  }

  /// Returns the items in a state.
  borrowing func items(_ state: State) -> [NetrcImportPlan.Item] {
    zip(plan.items, states).filter { $0.1 == state }.map(\.0)
  }

  private var changed: [NetrcImportPlan.Item] {
    items(.absent) + (isOverwriting ? items(.differing) : [])
  }

  /// Stores the items: all of them, or none.
  borrowing func perform() throws(KeychainError) {
    let changed = self.changed
    guard !changed.isEmpty else { return }
    var isInVault = true
    for item in changed where try stores.decision(for: item.identity).place != .vault {
      isInVault = false
    }
    isInVault ? try storeInVault(changed) : try storeOneByOne(changed)
  }

  /// Returns the entries whose password the stores have now.
  borrowing func storedEntries() throws(KeychainError) -> [NetrcEntry] {
    var entries: [NetrcEntry] = []
    for item in plan.items where try Self.state(of: item, in: stores, file) == .same {
      entries += item.entries
    }
    return entries
  }

  private static func state(
    of item: NetrcImportPlan.Item, in store: any CredentialStore, _ file: borrowing NetrcFile
  ) throws(KeychainError) -> State {
    // A keyring may answer with an item of another program that has fewer names.
    guard let stored = try store.secret(for: item.identity),
      stored.credential.identity == item.identity
    else { return .absent }
    let password = try file.password(of: item)
    return stored.secret.isEqual(to: password) && !stored.credential.isExpired()
      ? .same : .differing
  }

  /// A new password has neither the expiry nor the type of the old one.
  private static let update = CredentialUpdate(contentType: .clear, expires: .clear)

  private borrowing func storeInVault(
    _ items: [NetrcImportPlan.Item]
  ) throws(KeychainError) {
    do {
      try stores.vault.withTransaction { transaction in
        for item in items {
          try transaction.merge(
            Self.update, secret: try file.password(of: item), into: item.identity)
        }
      }
    } catch {
      throw error as? KeychainError
        ?? KeychainError(.internalFailure, "the import failed: \(error)")
    }
  }

  /// The desktop keyring has no transactions: after a failure, what was added is removed again.
  private borrowing func storeOneByOne(
    _ items: [NetrcImportPlan.Item]
  ) throws(KeychainError) {
    var added: [Credential] = []
    do throws(KeychainError) {
      for item in items {
        let merged = try stores.merge(
          Self.update, secret: try file.password(of: item), into: item.identity,
          mode: .addOrReplace)
        if merged.replaced == nil { added.append(merged.credential) }
      }
    } catch {
      for credential in added.reversed() {
        _ = try? stores.remove(credential.identity, expectedVersion: credential.version)
      }
      throw error
    }
  }
}

extension NetrcFile {
  /// Returns the password of an item, whose entries all have the same.
  fileprivate borrowing func password(
    of item: NetrcImportPlan.Item
  ) throws(KeychainError) -> SecretBytes {
    guard let entry = item.entries.first, let password = try password(of: entry) else {
      throw KeychainError(.internalFailure, "an entry of the netrc file has no password")
    }
    return password
  }
}
