internal import KeychainCredentials
internal import KeychainVaultFormat

/// A vault as the observers of a handle saw it last.
struct ObservedVault: Sendable {
  let contents: VaultContents

  /// T0, with which removed items are looked up; the keys of the other tiers are not kept.
  let keys: TierKeys

  init(_ contents: VaultContents, _ keys: TierKeys) {
    self.contents = contents
    self.keys = keys.openTierOnly
  }
}

/// How two states of a vault differ.
struct ItemChanges {
  /// Items that are gone; `nil` for one that came and went since the first state.
  private(set) var removed: [VaultItem?] = []
  private(set) var added: [VaultItem] = []
  private(set) var updated: [VaultItem] = []

  private var before = Items()
  private var after = Items()

  /// The items that are compared.
  private struct Items {
    var items: [ItemID: VaultItem] = [:]

    /// Whether a damaged page may have more.
    var isIncomplete = false
  }

  /// Compares two states.
  ///
  /// - Parameters:
  ///   - old: The first one; `nil` if there was no vault.
  ///   - own: What this handle changed between them, which is not reported again: the versions that
  ///     it put, `nil` for what it removed.
  ///   - new: The second one.
  /// - Throws: ``KeychainError`` if the file cannot be read.
  init(
    from old: ObservedVault?, own: [ItemID: UInt64?], to new: ObservedVault
  ) throws(KeychainError) {
    if let old, old.contents.base.digest == new.contents.base.digest {
      try compareLog(old, new)
    } else {
      if let old { before = try Self.items(of: old) }
      after = try Self.items(of: new)
    }
    let resealed = old.map { $0.contents.head.epoch != new.contents.head.epoch } ?? false
    compare(own: own, areResealed: resealed)
  }

  /// Looks up what the log changed since the first state.
  private mutating func compareLog(
    _ old: ObservedVault, _ new: ObservedVault
  ) throws(KeychainError) {
    for tier in new.contents.logged {
      for (id, logged) in tier.all where logged.n > old.contents.newest.n {
        do throws(KeychainError) {
          before.items[id] = try old.contents.item(id, old.keys, name: id.name)
          after.items[id] = try new.contents.item(id, new.keys, name: id.name)
        } catch {
          guard error.code == .damaged else { throw error }
          (before.isIncomplete, after.isIncomplete) = (true, true)
        }
      }
    }
  }

  private static func items(of vault: ObservedVault) throws(KeychainError) -> Items {
    var found = Items()
    try vault.contents.forEachItem(vault.keys) { visited throws(KeychainError) in
      switch visited {
      case .item(let item): found.items[item.id] = item
      case .damagedPage: found.isIncomplete = true
      case .shadowed: break
      }
    }
    return found
  }

  private mutating func compare(own: [ItemID: UInt64?], areResealed: Bool) {
    let ids = Set(before.items.keys).union(after.items.keys).union(own.keys).sorted()
    var gone: [(version: UInt64, item: VaultItem?)] = []
    for id in ids {
      let old = before.items[id]
      let version = if let own = own[id] { own } else { old?.entry.version }
      switch (version, after.items[id]) {
      case (let version?, nil) where !after.isIncomplete: gone.append((version, old))
      case (nil, let new?) where !before.isIncomplete: added.append(new)
      case (let version?, let new?) where version != new.entry.version: updated.append(new)
      default: break
      }
    }
    if areResealed {
      // Under a new root key, every item has another id, and keeps its version, which no other has.
      let stayed = Set(gone.map(\.version)).intersection(added.map(\.entry.version))
      gone.removeAll { stayed.contains($0.version) }
      added.removeAll { stayed.contains($0.entry.version) }
    }
    removed = gone.map(\.item)
  }
}
