internal import KeychainVaultFormat

extension MemberList {
  /// Returns the numbers of the rows that the list does not have.
  func unlisted(in slots: SlotList) -> [UInt32] {
    (slots.intact.map(\.number) + slots.damaged + slots.unknown)
      .filter { member($0) == nil }.sorted()
  }
}
