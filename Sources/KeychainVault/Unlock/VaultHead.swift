internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import Synchronization

/// The head, slots and list of members of one state of the file, which unlocking uses.
struct VaultHead: Sendable {
  let row: HeadRow
  let slots: SlotList
  let members: MembersRow

  /// The changes of the administration key, in the order of their epochs.
  let successions: [SuccessionRow]

  /// The path of the vault, for errors.
  let path: String

  private let checked = CheckedList()

  /// The list of members, if its signature was checked.
  var checkedList: MemberList? { checked.list.withLock { $0 } }

  init(_ rows: any VaultRows, path: String) throws(KeychainError) {
    row = try rows.headRow()
    slots = try rows.slots()
    members = try rows.membersRow()
    successions = try rows.successions()
    self.path = path
    guard slots.intact.count(where: { $0.kind == .passphrase }) <= MemberList.maximumPassphraseCount
    else { throw KeychainError(.damaged, "the vault has more than 8 passphrase slots") }
  }

  /// Whether both are copies of what was read once, which is cheaper to tell than by their contents.
  func isCopy(of other: VaultHead) -> Bool { checked === other.checked }

  func slots(_ kind: SlotKind) -> [SlotRow] { slots.intact.filter { $0.kind == kind } }

  /// Opens the list of members with T0, and checks it.
  func list(_ open: SharedSecret) throws(KeychainError) -> MemberList {
    if let list = checkedList { return list }
    let list = try members.opened(open.bytes, head: row, successions: successions)
    checked.list.withLock { $0 = list }
    return list
  }

  /// Returns what a slot yields, after checking that it is a slot of this vault now: its binding and
  /// keys, the macs of the head, that the signed list has it, and that it was made under this
  /// administration key or one before.
  ///
  /// - Returns: `nil` if the slot is of another vault or of an older epoch.
  func opened(
    _ slot: SlotRow, _ opened: SlotSealing.Opened
  ) throws(KeychainError) -> OpenedSlot? {
    guard opened.binding == row.binding, var keys = try opened.granted.tierKeys(of: row) else {
      return nil
    }
    try row.requireMacs(of: keys, path: path)
    let list = try list(keys.open)
    let member = try list.requireListed(slot, openedBy: opened.keys)
    guard try Succession.lead(from: slot.made, in: successions, to: row) else {
      throw .foreignSlot(slot.number)
    }
    let signer = member.signingKey.isEmpty ? nil : opened.keys.signer(slot.number)
    if list.vaultKind == .shared, member.writesStates { keys.signer = signer }
    return OpenedSlot(
      slot: slot, member: member, list: list, keys: keys, root: opened.granted.root,
      signer: signer)
  }
}

/// A list of members whose signature was checked once for all copies of a head.
private final class CheckedList: Sendable {
  let list = Mutex<MemberList?>(nil)
}

extension KeychainError {
  fileprivate static func foreignSlot(_ number: UInt32) -> Self {
    Self(
      .damaged,
      "slot \(number) of the vault was made under another administration key than the vault has",
      recovery: "somebody replaced the administration key in the file; restore a backup from before"
    )
  }
}
