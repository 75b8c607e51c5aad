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
      + [
        (.passphrase, "without the passphrase"), (.keyFile, "without the key file"),
        (.recipient, "without the identity"), (.recoveryCode, "without the recovery code"),
      ]
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
    guard let other = status.fullSlots.first(where: { $0.kind != .device }) else {
      return "everything is lost, as nothing else opens the vault"
    }
    let bound = status.itemsByAccessibility.filter { $0.key.isThisDeviceOnly }.values.reduce(0, +)
    let rest = "slot \(other.number), \(name(of: other)), opens"
    return bound > 0
      ? "\(items(bound)) bound to this device \(are(bound)) lost; \(rest) the rest"
      : "nothing is lost, as \(rest) everything"
  }

  /// What is lost with the only slot of a kind that a person has; `nil` if there is no such slot.
  private static func loss(with kind: SlotKind, _ status: VaultStatus) -> String? {
    guard status.fullSlots.contains(where: { $0.kind == kind }) else { return nil }
    let others = status.fullSlots.filter { $0.kind != kind }
    // Whether another machine still has the device key of its slot cannot be told.
    if let other = others.first(where: { $0.kind != .device || $0.isThisDevice == true }) {
      return "nothing is lost, as slot \(other.number) opens everything too"
    }
    if status.fullSlots.count(where: { $0.kind == kind }) > 1 {
      return "nothing is lost while another slot of its kind opens"
    }
    if let other = others.first {
      return "everything is lost, unless the device key of slot \(other.number) is found"
    }
    return status.slots.contains { $0.isThisDevice == true }
      ? "everything is lost but what needs no unlock" : "everything is lost"
  }
}
