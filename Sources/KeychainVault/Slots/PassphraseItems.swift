internal import Foundation
internal import KeychainCredentials
internal import KeychainVaultFormat

/// The items that need a vault with a passphrase, and go with the last one.
struct PassphraseItems {
  private(set) var credentials: [Credential] = []
  private(set) var items: [VaultItem] = []

  init() {}

  /// Those of other devices, whose names are not read here, are an error if they are included.
  init(
    of change: borrowing SlotChange, includingOtherDevices: Bool
  ) throws(KeychainError) {
    let (contents, sealing) = (change.contents, change.sealing)
    var found: [VaultItem] = []
    try contents.forEachItem(sealing.keys) { visited throws(KeychainError) in
      guard case .item(let item) = visited, item.accessibility == .whenPasscodeSetThisDeviceOnly
      else { return }
      if includingOtherDevices || !sealing.isOfOtherDevice(item.entry) { found.append(item) }
    }
    for item in found { credentials.append(try sealing.credential(of: item, name: item.name)) }
    items = found
  }

  /// Fails with the names of the items, if nobody agreed to delete them.
  func requireAgreement(
    _ isAgreed: Bool, else refusal: (String) -> KeychainError
  ) throws(KeychainError) {
    guard !isAgreed, !items.isEmpty else { return }
    throw refusal(credentials.map { "\($0.identity)" }.joined(separator: "; "))
  }
}
