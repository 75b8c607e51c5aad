internal import FoundationEssentials
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat

/// The changes of a transaction, which it can read, and which become one commit.
struct VaultWriter: ~Copyable {
  typealias Attempt<Result> = VaultSession.Attempt<Result>

  let sealing: ItemSealing

  /// The contents of the vault with the changes.
  private(set) var contents: VaultContents
  private let before: VaultContents

  /// The ids that changed, by tier; ``contents`` has their present items.
  private var changes: [Set<ItemID>] = [[], [], []]

  /// Whether the file is rewritten, whatever has changed.
  var makesBase = false

  /// Whether secrets were removed, rather than replaced.
  private(set) var removesSecrets = false

  var list: MemberList { contents.list }
  var keys: TierKeys { sealing.keys }
  var hasChanges: Bool { changes.contains { !$0.isEmpty } }

  /// The versions of put items, and `nil` for removed ones.
  var versions: [ItemID: UInt64?] {
    Tier.allCases.reduce(into: [:]) { versions, tier in
      for id in changes[tier] {
        versions[id] = .some(contents.logged[tier][id]?.item?.entry.version ?? versions[id] ?? nil)
      }
    }
  }

  init(_ contents: VaultContents, _ sealing: ItemSealing) {
    self.contents = contents
    before = contents
    self.sealing = sealing
  }

  /// Returns the item of an identity with its keys; for an item of another device, keys are not
  /// needed, because they open nothing of it.
  func openableItem(of identity: CredentialIdentity) throws(KeychainError) -> Attempt<VaultItem?> {
    let item = try contents.item(sealing.id(of: identity), keys, name: "\(identity)")
    guard let item, !sealing.isOfOtherDevice(item.entry), !keys.satisfies(item.requirement) else {
      return .done(item)
    }
    return .needs(.keys(item.requirement))
  }

  /// Puts an item, and removes its id from the other tiers with an available key.
  mutating func put(_ item: SealedItem) throws(KeychainError) {
    let id = item.entry.id
    for tier in Tier.allCases where tier != item.entry.tier { try remove(id, from: tier) }
    changes[item.entry.tier].insert(id)
    contents.lay(
      VaultItem(entry: item.entry, source: .pending(item)), over: id, in: item.entry.tier)
  }

  /// Removes an id from all tiers with an available key.
  mutating func remove(_ id: ItemID) throws(KeychainError) {
    removesSecrets = true
    for tier in Tier.allCases { try remove(id, from: tier) }
  }

  private mutating func remove(_ id: ItemID, from tier: Tier) throws(KeychainError) {
    guard contents.hasItems(in: tier), keys.key(tier) != nil,
      try contents.item(id, in: tier, keys) != nil
    else { return }
    if try before.item(id, in: tier, keys) == nil {
      changes[tier].remove(id)
    } else {
      changes[tier].insert(id)
    }
    contents.lay(nil, over: id, in: tier)
  }
}

// MARK: - Credentials

// Each change either needs something, before it has changed anything, or is done.
extension VaultWriter {
  /// Returns the replacement of a credential, and the replaced item, whose secret is not read.
  private func change(
    _ identity: CredentialIdentity, mode: StoreMode = .addOrReplace, keepsDates: Bool = false,
    _ change: (Credential?) throws(KeychainError) -> Credential
  ) throws(KeychainError) -> Attempt<(MergedCredential, VaultItem?)> {
    try openableItem(of: identity).then { item throws(KeychainError) in
      let old = try item.map { item throws(KeychainError) in
        try sealing.credential(of: item, name: "\(identity)")
      }
      // A locked tier may contain the item, so adding only needs all keys.
      if mode == .addOnly, item == nil, !keys.hasAll { return .needs(.keys(.unlockedNow)) }
      try mode.check(old, identity: identity)
      var new = try change(old)
      let requirement = new.accessibility.unlockRequirement
      guard keys.satisfies(requirement) else { return .needs(.keys(requirement)) }
      guard !new.accessibility.isThisDeviceOnly || sealing.device != nil else {
        return .needs(.deviceSecret)
      }
      new.stamp(version: ItemEntry.newVersion(), created: old?.created, keepsDates: keepsDates)
      return .done((MergedCredential(credential: new, replaced: old), item))
    }
  }

  mutating func set(
    _ request: StoreRequest, secret: borrowing SecretBytes
  ) throws(KeychainError) -> Attempt<MergedCredential> {
    // Whether somebody can have T0 alone: a device key that doesn't open the rest.
    let canBeLocked =
      list.vaultKind == .local
      && !list.members.contains { $0.kind == .device && $0.grant == .administers }
    return try change(
      request.identity, mode: request.mode, keepsDates: request.keepsDates
    ) { old throws(KeychainError) in
      if let old, request.accessibility == nil, canBeLocked { try old.requireNamedClass() }
      return try request.credential(replacing: old)
    }.then { merged, _ throws(KeychainError) in
      try put(merged.credential, secret: secret)
      return .done(merged)
    }
  }

  /// Changes a credential, and keeps its secret.
  mutating func update(
    _ identity: CredentialIdentity, with update: CredentialUpdate, expectedVersion: UInt64?
  ) throws(KeychainError) -> Attempt<MergedCredential> {
    try change(identity) { old throws(KeychainError) in
      guard let old else { throw .notFound(identity) }
      try old.checkVersion(expectedVersion)
      let changed = update.applied(to: old)
      try changed.checkRules(secretCount: nil)
      return changed
    }.then { merged, item throws(KeychainError) in
      guard let item else { throw .notFound(identity) }
      let secret = try sealing.secret(of: item, in: contents, name: "\(identity)")
      try put(merged.credential, secret: secret)
      return .done(merged)
    }
  }

  mutating func rename(
    _ identity: CredentialIdentity, to newIdentity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> Attempt<Credential> {
    try openableItem(of: identity).then { item throws(KeychainError) in
      guard let item else { throw .notFound(identity) }
      let credential = try sealing.credential(of: item, name: "\(identity)")
      try credential.checkVersion(expectedVersion)
      let id = try sealing.id(of: newIdentity)
      guard try contents.item(id, keys, name: "\(newIdentity)") == nil else {
        throw .alreadyExists(newIdentity)
      }
      var new = try credential.renamed(newIdentity)
      new.stamp(version: ItemEntry.newVersion(), created: credential.created)
      let secret = try sealing.secret(of: item, in: contents, name: "\(identity)")
      try remove(item.id)
      try put(new, secret: secret)
      return .done(new)
    }
  }

  /// Removes a credential, and returns it; `nil` if there was none.
  mutating func remove(
    _ identity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> Attempt<Credential?> {
    try openableItem(of: identity).then { item throws(KeychainError) in
      guard let item else { return .done(nil) }
      let credential = try sealing.credential(of: item, name: "\(identity)")
      try credential.checkVersion(expectedVersion)
      try remove(item.id)
      return .done(credential)
    }
  }

  /// Seals a credential, in place of the item with its identity.
  mutating func put(_ credential: Credential, secret: borrowing SecretBytes) throws(KeychainError) {
    if list.vaultKind == .shared, credential.accessibility.isThisDeviceOnly {
      throw KeychainError(
        .refused,
        "\(credential.identity) would stay on this device, and members share this vault",
        recovery: "choose an accessibility without ThisDeviceOnly")
    }
    guard credential.accessibility != .whenPasscodeSetThisDeviceOnly || list.hasPassphrase else {
      throw KeychainError(
        .refused,
        "\(credential.identity) needs a vault with a passphrase, and this vault has none",
        recovery: .addPassphrase)
    }
    try put(sealing.seal(credential, secret: secret))
  }
}

extension Credential {
  /// Fails if its class needs no unlock: anybody with the device key may have put it there, to read
  /// the secret that replaces it.
  fileprivate func requireNamedClass() throws(KeychainError) {
    guard accessibility.unlockRequirement == .nothing else { return }
    throw KeychainError(
      .refused,
      "\(identity) has the accessibility '\(accessibility)', so anyone who has the device key may "
        + "have stored it: the accessibility of the new secret must be named",
      recovery: "name it with \(.nameAccessibility), or delete the item first")
  }
}

// MARK: - The commit

extension VaultWriter {
  /// Whether the changes fit in one commit; otherwise they need a new base.
  var fitsInCommit: Bool {
    var (body, boxes) = (0, 0)
    for tier in Tier.allCases {
      for id in changes[tier] {
        if case .pending(let item)? = contents.logged[tier][id]?.item?.source {
          body += 1 + item.entry.count + 4 + item.metadata.count
          boxes += item.box.count
        } else {
          body += 1 + ItemID.count
        }
        // The body has more than its entries, but the rest is smaller than this.
        guard body + body / 8 + 4096 <= Commit.maximumBodyCount,
          boxes <= FrameHeader.maximumBoxesCount
        else { return false }
      }
    }
    return true
  }

  private func changed(in tier: Tier) -> (puts: [SealedItem], removes: [ItemID]) {
    var (puts, removes): ([SealedItem], [ItemID]) = ([], [])
    for id in changes[tier] {
      if case .pending(let item)? = contents.logged[tier][id]?.item?.source {
        puts.append(item)
      } else {
        removes.append(id)
      }
    }
    return (puts, removes)
  }

  /// Returns the commit, and the bytes of its frame with all boxes.
  borrowing func sealed() throws(KeychainError) -> (Commit, FrameHeader, Data) {
    var parts: [Part] = []
    var boxes = Data()
    for tier in Tier.allCases {
      var (puts, removes) = changed(in: tier)
      puts.sort { $0.entry.id < $1.entry.id }
      parts.append(try Part(tier, puts: puts, removes: removes, keys: keys))
      for item in puts { boxes += item.box }
    }
    let signer = list.vaultKind == .shared ? keys.signer : nil
    let content = Commit.Changes(boxesHash: try Derivation.hash(boxes, count: 32), parts: parts)
    let (commit, box) = try Commit.seal(
      n: before.newest.n + 1, previous: before.newest.digest, time: Date().microseconds ?? 0,
      writer: signer?.number ?? 0, content: .changes(content), keys: keys, signer: signer,
      administration: nil)
    let header = FrameHeader(n: commit.n, boxCount: box.count, boxesCount: boxes.count)
    return (
      commit, header, try header.encoded(epoch: before.head.epoch, open: keys.open) + box + boxes
    )
  }
}
