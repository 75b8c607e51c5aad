internal import KeychainCredentials
internal import KeychainVault

extension UserInterface {
  /// What is lost with which file, and with what a person has.
  static func losses(_ status: VaultStatus) -> [(String, String)] {
    [
      ("without vault.db", "everything is lost (\(status.path))"),
      (
        "without device.key",
        (status.hasDeviceSecret ? "" : "it is missing: ") + lossWithDeviceKey(status)
          + " (\(status.deviceSecretPath))"
      ),
    ]
      + [(.passphrase, "without the passphrase"), (.keyFile, "without the key file")]
      .compactMap { kind, title in loss(with: kind, status).map { (title, $0) } }
      + [("without the seen record", "nothing is lost, but an older copy would not be noticed")]
  }

  /// How to get a vault open again that nothing opens which is here.
  static func wayBack(_ status: VaultStatus) -> String {
    guard status.fullSlots.contains(where: { $0.kind == .device }) else {
      return "restore a backup, as the slots that open everything are damaged"
    }
    return "bring back the device key of this vault, '\(status.deviceSecretPath)'"
  }

  private static func lossWithDeviceKey(_ status: VaultStatus) -> String {
    guard status.fullSlots.contains(where: { $0.kind != .device }) else {
      return "everything is lost, as nothing else opens the vault"
    }
    let bound = status.itemsByAccessibility.filter { $0.key.isThisDeviceOnly }.values.reduce(0, +)
    return bound > 0
      ? "\(items(bound)) bound to this device \(are(bound)) lost" : "nothing is lost"
  }

  /// What is lost with the only slot of a kind that a person has; `nil` if there is no such slot.
  private static func loss(with kind: SlotKind, _ status: VaultStatus) -> String? {
    guard status.fullSlots.contains(where: { $0.kind == kind }) else { return nil }
    if let other = status.fullSlots.first(where: { $0.kind != kind }) {
      return "nothing is lost, as slot \(other.number) opens everything too"
    }
    if status.fullSlots.count > 1 { return "nothing is lost while another slot of its kind opens" }
    return status.slots.contains { $0.isThisDevice == true }
      ? "everything is lost but what needs no unlock" : "everything is lost"
  }
}
