internal import Foundation
internal import KeychainCredentials
internal import KeychainVaultFormat

/// Items that need a passphrase and are deleted with the last one.
struct PassphraseItems {
  private(set) var credentials: [Credential] = []
  private(set) var rows: [ItemRow] = []

  var ids: Set<Data> { Set(rows.map(\.id)) }

  /// No items.
  init() {}

  /// Finds the items.
  ///
  /// Items that are bound to other devices are included only if `includingOtherDevices`, which
  /// fails if there are any.
  init(
    of change: borrowing SlotChange, includingOtherDevices: Bool
  ) throws(KeychainError) {
    let sealing = change.writer.sealing
    var ids: [Data] = []
    try change.writer.rows.forEachItem { id, item throws(KeychainError) in
      guard let item else { throw .damagedItem(ItemRow.name(of: id)) }
      guard item.accessibility == .whenPasscodeSetThisDeviceOnly else { return }
      if includingOtherDevices || !sealing.isOfOtherDevice(item) { ids.append(id) }
    }
    var groups = AccessGroupNames(rows: change.writer.rows, sealing: sealing)
    for id in ids {
      let name = ItemRow.name(of: id)
      guard let found = try change.writer.item(id, name: name) else { throw .damagedItem(name) }
      guard !sealing.isOfOtherDevice(found) else { throw .otherDevice(name) }
      let group = try groups.name(of: found)
      credentials.append(try sealing.credential(in: found, group: group, name: name))
      rows.append(found)
    }
  }

  /// Fails with `refusal`, which receives the names of the items, if there are any and `isAgreed`
  /// is `false`.
  func requireAgreement(
    _ isAgreed: Bool, else refusal: (String) -> KeychainError
  ) throws(KeychainError) {
    guard !isAgreed, !rows.isEmpty else { return }
    throw refusal(credentials.map { "\($0.identity)" }.joined(separator: "; "))
  }
}
