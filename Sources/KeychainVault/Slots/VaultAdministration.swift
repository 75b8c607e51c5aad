internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles

/// A session of somebody who may change who opens the vault.
struct VaultAdministration: Sendable {
  let session: VaultSession
  let opener: SlotOpener

  /// The epoch of the vault, with its root key and administration key.
  let epoch: VaultEpoch

  /// Whether what this user has seen counts; not for somebody who accepts a restored file.
  var refuses = true

  var head: VaultHead { session.head }
  var keys: TierKeys { opener.opened.keys }
  var list: MemberList { opener.opened.list }

  init(session: VaultSession, opener: SlotOpener) throws(KeychainError) {
    guard let root = opener.opened.root else {
      throw KeychainError(.internalFailure, "a slot without the root key was opened for a change")
    }
    self.session = session
    self.opener = opener
    let key = try AdministrationKey(
      box: session.head.parts.administrationBox, root: root.bytes,
      expected: session.head.administration)
    var keys = opener.opened.keys
    if opener.opened.list.vaultKind == .shared { keys.signer = opener.opened.signer }
    epoch = VaultEpoch(session.head, root: root, keys: keys, administration: key)
  }

  /// Calls `body` under the lock, and commits the list of members that it makes.
  func change<Result>(
    _ body: (inout SlotChange) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    try locked { vault, change throws(KeychainError) in
      let result = try body(&change)
      try vault.replaceBase(change.base())
      return result
    }
  }

  /// Calls `body` with what a change would begin with; nothing is changed.
  func inspect<Result>(
    _ body: (borrowing SlotChange) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    try locked { _, change throws(KeychainError) in try body(change) }
  }

  /// Fails if a change would fail, before a person is asked for what it needs.
  func requireChangeable() throws(KeychainError) {
    try inspect { change throws(KeychainError) in try change.requireWholePages() }
  }

  func locked<Result>(
    _ body: (inout LockedVault, inout SlotChange) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    try UnfinishedVault.requirePossible(for: session.path, on: session.file.disk)
    return try session.locked { session, lock throws(KeychainError) in
      guard session.head == head else { throw .slotsChanged }
      var vault = try LockedVault(session, lock, epoch.keys, refuses: refuses)
      var change = try SlotChange(vault.contents, self)
      return try body(&vault, &change)
    }
  }

  /// What the secrets that were presented gave, by the numbers of their slots.
  func presented() throws(KeychainError) -> [UInt32: SharedSecret] {
    var keys: [UInt32: SharedSecret] = [:]
    if let device = try session.unlocker.device.find(),
      let slot = try session.unlocker.device.slot(head)
    {
      keys[slot.number] = device.secret
    }
    if let inputKey = opener.opened.inputKey { keys[opener.opened.slot.number] = inputKey }
    return keys
  }
}

/// A change of members that keeps the keys.
struct SlotChange {
  let admin: VaultAdministration
  let slots: [ListedSlot]
  let sealing: ItemSealing

  /// What the vault holds, without the items that go.
  private(set) var contents: VaultContents
  private var sealed: [UInt32: ListedSlot] = [:]
  private var removed: Set<UInt32> = []

  /// The serial of the list, where it has to be above the next one; such a list accepts a restored file.
  var accepting: UInt64?

  var list: MemberList { contents.list }
  var epoch: VaultEpoch { admin.epoch }

  init(_ contents: VaultContents, _ admin: VaultAdministration) throws(KeychainError) {
    self.contents = contents
    self.admin = admin
    slots = try contents.list.rows(in: contents.head)
    sealing = try admin.session.sealing(admin.epoch.keys)
    guard slots.contains(where: { $0.slot == admin.opener.opened.slot }) else {
      throw .slotsChanged
    }
  }

  /// Puts a slot into the next list, in the place of that of its number.
  mutating func put(_ slot: ListedSlot) { sealed[slot.slot.number] = slot }

  mutating func removeSlot(_ number: UInt32) { removed.insert(number) }

  /// Removes an item with the change.
  mutating func remove(_ item: VaultItem) { contents.lay(nil, over: item.id, in: item.entry.tier) }

  func seal(
    _ input: borrowing SlotInput, number: UInt32, grant: SlotGrant = .administers, name: String
  ) throws(KeychainError) -> ListedSlot {
    try epoch.seal(input, number: number, grant: grant, name: name)
  }

  /// The base that brings the new list.
  func base() throws(KeychainError) -> NewBase {
    let presented = try admin.presented()
    var all: [ListedSlot] = []
    for slot in slots where !removed.contains(slot.number) && sealed[slot.number] == nil {
      if let inputKey = presented[slot.number], slot.slot.made != epoch.identity.administration {
        all.append(
          try epoch.reseal(slot.slot, of: slot.member, grant: slot.grant, inputKey: inputKey))
      } else {
        all.append(slot)
      }
    }
    all += sealed.values
    let (newest, list) = (contents.newest, list)
    let signed = try SignedMembers(
      epoch,
      list.next(
        first: newest.n + 1, before: newest.digest, serial: accepting, accepted: accepting),
      all, successions: contents.head.parts.successions)
    return try NewBase(contents, epoch.keys, bringing: signed)
  }

  /// - Throws: ``KeychainError/Code/damaged`` if a page can't be carried into a new base.
  func requireWholePages() throws(KeychainError) {
    try contents.forEachItem(sealing.keys) { visited throws(KeychainError) in
      if case .damagedPage(let page) = visited { throw .damagedItem(page.name) }
    }
  }

  /// A number for a new slot.
  ///
  /// - Throws: ``KeychainError/Code/refused`` if the vault has as many slots as allowed.
  func freeNumber(for kind: SlotKind) throws(KeychainError) -> UInt32 {
    guard slots.count < MemberList.maximumCount, list.nextNumber < .max,
      kind != .passphrase
        || slots.count(where: { $0.kind == .passphrase }) < MemberList.maximumPassphraseCount
    else {
      throw KeychainError(
        .refused, "the vault has as many slots as allowed: at most 32, and at most 8 passphrases",
        recovery: "remove one with "
          + "\(.removeSlot(number: nil, deletingItems: false, withNewKeys: true))")
    }
    return list.nextNumber
  }
}
