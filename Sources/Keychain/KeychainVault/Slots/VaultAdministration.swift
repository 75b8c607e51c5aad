internal import FoundationEssentials
package import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesSystem

/// A session that may change who opens the vault.
struct VaultAdministration: Sendable {
  let session: VaultSession

  /// The slot that opened the vault.
  let opened: OpenedSlot

  /// The epoch of the vault, with its root key and administration key.
  let epoch: VaultEpoch

  /// Whether the seen record can refuse the file: not when a restored file is accepted.
  let refuses: Bool

  var head: VaultHead { session.head }
  var keys: TierKeys { opened.keys }
  var list: MemberList { opened.list }

  /// Opens the vault with a slot that administers; the root key is not kept.
  init(_ session: VaultSession, refuses: Bool = true) throws(KeychainError) {
    (self.session, self.refuses) = (session, refuses)
    opened = try session.unlocker.member(session.opened, session.deadline)
    guard let root = opened.root else {
      throw KeychainError(
        .refused, "\(opened.member.called) may not change who opens the vault",
        recovery: "open it with an identity that administers it, or with its recovery code: "
          + "\(.listSlots) shows which slots do")
    }
    let key = try AdministrationKey(
      box: session.head.parts.administrationBox, root: root.bytes,
      expected: session.head.administration)
    var keys = opened.keys
    if opened.list.vaultKind == .shared { keys.signer = opened.signer }
    epoch = VaultEpoch(session.head, root: root, keys: keys, administration: key)
  }

  /// Calls `body` under the lock, and commits the list of members that it returns.
  func change<Result>(
    _ body: (inout SlotChange) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    try commit { change throws(KeychainError) in
      let result = try body(&change)
      return MemberCommit(base: try change.base(), result: result)
    }
  }

  /// Commits, under the lock, what `prepare` returns.
  ///
  /// If it fails, nothing was changed, unless the error has ``KeychainError/Code/outcomeUnknown``.
  func commit<Result>(
    _ prepare: (inout SlotChange) throws(KeychainError) -> MemberCommit<Result>
  ) throws(KeychainError) -> Result {
    try locked { vault, change throws(KeychainError) in
      let commit = try prepare(&change)
      do throws(KeychainError) {
        try vault.replaceBase(commit.base, beforeRename: commit.before)
      } catch {
        if error.code != .outcomeUnknown { commit.undo() }
        throw error
      }
      commit.after(vault.contents)
      return commit.result
    }
  }

  /// Calls `body` with the beginning of a change, without changing anything.
  func inspect<Result>(
    _ body: (borrowing SlotChange) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    try locked { _, change throws(KeychainError) in try body(change) }
  }

  private func locked<Result>(
    _ body: (inout LockedVault, inout SlotChange) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    try UnfinishedVault.requirePossible(for: session.path, on: session.file.disk)
    return try session.locked { session, lock throws(KeychainError) in
      var (vault, change) = try begin(session, lock)
      return try body(&vault, &change)
    }
  }

  private func begin(
    _ session: VaultSession, _ lock: LockedLog
  ) throws(KeychainError) -> (LockedVault, SlotChange) {
    // The slots must be the ones that were read. Other writers may have written bases for their
    // items.
    guard session.head.parts == head.parts else { throw .slotsChanged }
    let vault = try LockedVault(session, lock, epoch.keys, refuses: refuses)
    return (vault, try SlotChange(vault.contents, self))
  }

  /// Returns what new keys would change, after a person agreed; `nil` without new keys.
  func agreement(
    _ confirm: (RekeyPlan) throws(KeychainError) -> Bool,
    to plan: (borrowing SlotChange) throws(KeychainError) -> RekeyPlan?
  ) throws(KeychainError) -> RekeyPlan? {
    guard let plan = try inspect(plan) else { return nil }
    let isConfirmed = try session.deadline.excluding { () throws(KeychainError) in
      try confirm(plan)
    }
    guard isConfirmed else {
      throw KeychainError(.cancelled, "the vault keeps its keys; nothing was changed")
    }
    return plan
  }

  /// The keys from the presented secrets, by the numbers of their slots.
  func presented() throws(KeychainError) -> [UInt32: SharedSecret] {
    var keys: [UInt32: SharedSecret] = [:]
    if let device = try session.unlocker.state.findSecret(),
      let slot = try session.unlocker.ownSlot(of: head)?.slot
    {
      keys[slot.number] = device.secret
    }
    if let inputKey = opened.inputKey { keys[opened.slot.number] = inputKey }
    return keys
  }
}

/// A prepared change of who opens the vault, or of its keys: everything that can fail is done,
/// except writing the file.
///
/// The types say what a failure means. Steps before the commit can fail, and are undone if the
/// commit certainly did not happen. Steps after the commit cannot throw, so that a finished change
/// is never reported as failed.
struct MemberCommit<Result> {
  let base: NewBase
  let result: Result

  /// Makes records durable before the new file counts.
  var before: ((VaultContents) throws(KeychainError) -> Void)?

  /// Undoes `before`, as far as others would see it.
  var undo: () -> Void = {}

  /// Can only report; receives the new contents of the vault.
  var after: (VaultContents) -> Void = { _ in }
}

/// A change of members.
struct SlotChange {
  let admin: VaultAdministration
  let slots: [ListedSlot]
  let sealing: ItemSealing

  /// The contents of the vault, without the items that are dropped.
  private(set) var contents: VaultContents

  /// The slots of the next list, by their numbers.
  private var next: [UInt32: ListedSlot] = [:]

  /// The serial that was seen, if the next list accepts a restored file.
  var accepting: UInt64?

  var list: MemberList { contents.list }
  var epoch: VaultEpoch { admin.epoch }

  init(_ contents: VaultContents, _ admin: VaultAdministration) throws(KeychainError) {
    self.contents = contents
    // A change of members that has begun is not cut short, because a person may have answered for
    // it.
    self.contents.deadline = nil
    self.admin = admin
    slots = try contents.list.rows(in: contents.head)
    sealing = try admin.session.sealing(admin.epoch.keys)
    for slot in slots { next[slot.number] = slot }
  }

  /// Puts a slot into the next list, replacing the one with its number.
  @discardableResult
  mutating func put(_ slot: ListedSlot, isThisDevice: Bool? = nil) -> VaultSlot {
    next[slot.number] = slot
    return slot.described(isThisDevice: isThisDevice)
  }

  mutating func removeSlot(_ number: UInt32) { next[number] = nil }

  mutating func remove(_ item: VaultItem) { contents.lay(nil, over: item.id, in: item.entry.tier) }

  /// Returns the base with the new list, under the same keys.
  func base() throws(KeychainError) -> NewBase {
    let presented = try admin.presented()
    let slots = try next.values.map { slot throws(KeychainError) in
      guard let inputKey = presented[slot.number], slot.slot.made != epoch.identity.administration
      else { return slot }
      return try epoch.reseal(slot, grant: slot.grant, inputKey: inputKey)
    }
    let signed = try self.signed(
      slots, epoch, successions: contents.head.parts.successions, above: accepting)
    return try NewBase(contents, epoch.keys, bringing: signed)
  }

  /// Signs the list that follows, in this epoch or the next one.
  func signed(
    _ slots: [ListedSlot], _ epoch: VaultEpoch, successions: [Data], above floor: UInt64?
  ) throws(KeychainError) -> SignedMembers {
    let newest = contents.newest
    return try SignedMembers(
      epoch, list.next(first: newest.n + 1, before: newest.digest, accepting: floor), slots,
      successions: successions)
  }

  func requireWholePages() throws(KeychainError) {
    try contents.forEachPage(sealing.keys) { walked throws(KeychainError) in
      if let page = walked.damaged { throw .damagedItem(page.name) }
    }
  }

  /// Returns a number for a new slot, unless the vault already has the maximum of its kind.
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
    if kind == .recoveryCode, list.vaultKind == .shared,
      let slot = slots.first(where: { $0.kind == .recoveryCode })
    {
      throw KeychainError(
        .refused, "a shared vault has one recovery code, which is slot \(slot.number)",
        recovery: "remove it first, with "
          + "\(.removeSlot(number: slot.number, deletingItems: false, withNewKeys: true))")
    }
    return list.nextNumber
  }

  /// Returns the slot that a person wants to remove, by its number.
  borrowing func slot(toRemove number: UInt32) throws(KeychainError) -> ListedSlot {
    guard let slot = slots.first(where: { $0.number == number }) else { throw .noSlot(number) }
    guard list.vaultKind == .local || number != admin.opened.slot.number else {
      throw KeychainError(
        .refused, "\(slot.member.called) opened this shared vault, so it cannot be removed with it",
        recovery:
          "open the vault with another slot that administers it; \(.listSlots) shows which do")
    }
    return slot
  }
}

extension ListedSlot {
  /// Whether it opens everything and is for daily use, unlike a recovery code.
  var isDailyKey: Bool { kind != .device && kind != .recoveryCode }

  /// Whether a device secret alone opens everything with it.
  var isFullDevice: Bool { kind == .device && grant == .administers }
}

extension MemberList {
  /// Returns the rows of all listed slots; fails if this release doesn't know one, and so can't
  /// keep it.
  func rows(in head: VaultHead) throws(KeychainError) -> [ListedSlot] {
    if let unknown {
      throw KeychainError(
        .unsupportedFormat,
        "\(unknown.called) is of a kind that this release does not know, so it cannot change who "
          + "opens the vault",
        recovery: "use the release that made it, or a newer one")
    }
    return try members.map { member throws(KeychainError) in
      guard let slot = head.slots.first(where: { $0.number == member.number }) else {
        throw .damagedSlot(member.number)
      }
      return ListedSlot(slot: slot, member: member)
    }
  }
}

extension [ListedSlot] {
  /// Returns this device's slot if it must open everything; fails if nothing would be left that
  /// administers the vault.
  func deviceToPromote(_ ownSlot: UInt32?) throws(KeychainError) -> ListedSlot? {
    let hasDailyKey = contains(where: \.isDailyKey)
    let own = hasDailyKey ? nil : first { $0.number == ownSlot }
    // Whether another device still has its secret is unknown here.
    guard own != nil || contains(where: { $0.kind != .device && $0.grant == .administers }) else {
      throw KeychainError(
        .refused,
        hasDailyKey
          ? "nobody would be left who administers the vault" : "nothing else would open the vault",
        recovery: "add another way first with \(.addSlot(nil))")
    }
    return own?.grant == .administers ? nil : own
  }
}

extension KeychainError {
  static let slotsChanged = KeychainError(.busy, "the slots changed meanwhile", recovery: .tryAgain)

  package static func noSlot(_ number: UInt32) -> Self {
    Self(.notFound, "the vault has no slot \(number)", recovery: .listSlots)
  }
}
