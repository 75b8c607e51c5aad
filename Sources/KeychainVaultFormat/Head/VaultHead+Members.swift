package import Foundation
package import KeychainCredentials

extension VaultHead {
  /// Opens the list of members with T0, and checks all of it.
  ///
  /// Its signature must be right; it must be of this vault, epoch and administration key, and name
  /// exactly the slots, the successions and the box of the administration key that the head has.
  package func openList(_ open: SharedSecret) throws(KeychainError) -> MemberList {
    let list = try MemberList.open(
      self.list, identity, administrationBox: administrationBox, successions: successions, open)
    guard hasExactlySlots(of: list) else {
      throw .damagedMembers("the slots of the vault are not those it names")
    }
    return list
  }

  private func hasExactlySlots(of list: MemberList) -> Bool {
    guard storedSlots.count == list.members.count else { return false }
    // Numbers are unique on both sides, so every member is met once.
    return zip(storedSlots, slotHashes).allSatisfy { slot, hash in
      guard let start = SlotStart(slot), let member = list.member(start.number) else {
        return false
      }
      return member.slotHash == hash && member.kindNumber == start.kindNumber
        && member.grantNumber == start.grantNumber
    }
  }
}

extension Succession {
  /// Whether successions that are followed lead from a trusted administration key to the head's.
  package static func lead(
    from isTrusted: (Data) -> Bool, in records: [Data], to head: VaultHead,
    trustingRecovery recovery: Data?
  ) throws(KeychainError) -> Bool {
    var reached: Data?
    for record in records {
      let succession = try Succession(record, of: head.id)
      guard succession.oldKey == reached || isTrusted(succession.oldKey),
        succession.isFollowed(trustingRecovery: recovery)
      else { continue }
      if succession.newKey == head.administration { return true }
      reached = succession.newKey
    }
    return false
  }
}
