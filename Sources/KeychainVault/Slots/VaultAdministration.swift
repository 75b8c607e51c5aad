internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles

/// A vault with its root key, for changes of slots.
struct VaultAdministration: Sendable {
  let session: VaultSession
  let head: VaultHead
  let opener: SlotOpener
  let root: SharedSecret

  /// The key that signs the list of members.
  let key: AdministrationKey

  var keys: TierKeys { opener.opened.keys }

  /// The list of members that was opened.
  ///
  /// A transaction has its own.
  var list: MemberList { opener.opened.list }

  init(
    session: VaultSession, head: VaultHead, opener: SlotOpener
  ) throws(KeychainError) {
    guard let root = opener.opened.root else {
      throw KeychainError(.internalFailure, "a slot without the root key was opened for a change")
    }
    self.session = session
    self.head = head
    self.opener = opener
    self.root = root
    key = try AdministrationKey(
      box: head.members.administration, root: root.bytes, expected: head.row.administration)
  }

  /// Changes slots in one transaction, if the whole vault is intact.
  func change<Result>(
    progress: ((VaultProgress) -> Void)? = nil,
    _ body: (inout SlotChange) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    let (result, record) = try transaction { change throws(KeychainError) in
      // The work takes time, and the commit may then have to wait for readers.
      try session.deadline.excluding { () throws(KeychainError) in
        try change.requireIntact(opening: keys.openTierOnly, progress: progress)
      }
      let result = try body(&change)
      return (result, try change.writer.finish().record)
    }
    session.remember(record)
    return result
  }

  /// Fails unless the whole vault is intact, as ``change(progress:_:)`` does.
  ///
  /// Used before a person is asked to do some work. The change itself verifies the vault again.
  func requireIntact() throws(KeychainError) {
    try inspect { change throws(KeychainError) in
      try session.deadline.excluding { () throws(KeychainError) in
        try change.requireIntact(opening: keys.openTierOnly, progress: nil)
      }
    }
  }

  /// Runs `body` in a transaction that writes nothing, checks the listed slots, and does not verify
  /// the vault.
  func inspect<Result>(
    _ body: (borrowing SlotChange) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    try transaction { change throws(KeychainError) in try body(change) }
  }

  /// Runs a transaction on the vault as its list of members is now.
  func transaction<Result>(
    _ body: (inout SlotChange) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    let device = try session.unlocker.device.find()?.inVault(head.row.id)
    return try session.opened.storage.write(session.deadline) {
      (rows: any WritableVaultRows) throws(KeychainError) -> Result in
      guard try rows.headRow().owns(keys) else {
        throw KeychainError(.busy, "the vault got new keys meanwhile", recovery: .tryAgain)
      }
      var change = try change(of: session.proven(rows, keys), rows, device)
      return try body(&change)
    }
  }

  /// Returns a change of the slots within a transaction.
  func change(
    of proven: ProvenVault, _ rows: any WritableVaultRows, _ device: VaultDevice?
  ) throws(KeychainError) -> SlotChange {
    let slots = try proven.members.rows(in: rows.slots())
    // Otherwise two processes could each remove the slot that the other one used.
    guard slots.contains(where: { $0.slot == opener.opened.slot }) else { throw .slotsChanged }
    let sealing = ItemSealing(keys: keys, device: device)
    return try SlotChange(
      writer: VaultWriter(rows: rows, sealing: sealing, proven: proven), proven: proven,
      slots: slots, admin: self)
  }
}

/// A change of slots within a transaction.
struct SlotChange: ~Copyable {
  var writer: VaultWriter
  let proven: ProvenVault

  /// The slots that the list of members has.
  let slots: [ListedSlot]
  let admin: VaultAdministration

  var list: MemberList { proven.members }

  /// The numbers of the rows that the list of members does not have, and that a change removes.
  func unlisted() throws(KeychainError) -> [UInt32] { list.unlisted(in: try writer.rows.slots()) }

  /// Puts new slots and those that replace others, removes slots, and signs the new list.
  mutating func apply(
    _ sealed: [SlotSealing.Sealed], removing removed: UInt32? = nil
  ) throws(KeychainError) {
    let numbers = Set(sealed.map(\.slot.number))
    let rest = slots.map(\.member).filter {
      $0.number != removed && !numbers.contains($0.number)
    }
    let next = max(list.nextNumber, (numbers.max() ?? 0) + 1)
    let new = list.next(rest + sealed.map(\.member), nextNumber: next)
    for number in try unlisted() { try writer.rows.removeSlot(number) }
    if let removed { try writer.rows.removeSlot(removed) }
    for slot in sealed { try writer.rows.put(slot.slot) }
    let row = try MembersRow(
      new, signedBy: admin.key, administration: writer.rows.membersRow().administration,
      open: admin.keys.open.bytes)
    try writer.replaceMembers(new, row)
  }

  /// Seals the keys of the vault as they are to the input of a new slot.
  func seal(
    _ input: borrowing SlotInput, number: UInt32, grant: SlotGrant = .administers, name: String
  ) throws(KeychainError) -> SlotSealing.Sealed {
    try SlotSealing.seal(
      input, number: number, grant: grant, granted: granted(grant), head: admin.head.row,
      name: name)
  }

  /// Returns what a grant gives of the keys as they are.
  func granted(_ grant: SlotGrant) throws(KeychainError) -> GrantedKey {
    try GrantedKey(grant, root: admin.root, keys: admin.keys)
  }

  /// Verifies the whole vault before any row is changed.
  ///
  /// A change signs a new list and makes a new state. What somebody dropped or put back before would
  /// then look like the vault's own. Opens the items whose keys are in `keys`.
  func requireIntact(
    opening keys: TierKeys, progress: ((VaultProgress) -> Void)?
  ) throws(KeychainError) {
    var verification = VaultVerification(
      rows: writer.rows, sealing: ItemSealing(keys: keys, device: writer.sealing.device),
      proven: proven, progress: progress)
    guard let problem = try verification.run().report.problems.first else { return }
    throw KeychainError(
      .damaged, "the vault is not intact, so its slots stay as they are: \(problem)",
      recovery: "see all problems with \(.verify), and restore a backup; or accept "
        + "the vault as it is, with \(.acceptRestored)")
  }

  /// Returns the number for a new slot.
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
