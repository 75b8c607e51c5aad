internal import KeychainCredentials
internal import KeychainVault

/// What is lost if a file or a key is lost.
struct VaultLoss {
  /// What may be lost.
  enum Key: Equatable {
    case vaultFile
    case deviceKey
    case seenRecord

    /// All slots of a kind that a person or a service has.
    case slots(SlotKind)
  }

  enum Consequence: Equatable {
    case everything
    case everythingAsNothingElseOpens

    /// Everything, unless another machine has the device key of a slot, which is not known.
    case everythingUnlessDeviceKeyIsFound(slot: UInt32)

    /// Everything, except items that need no unlock.
    case everythingLocked

    /// The items that are bound to this device; a slot opens the rest.
    case deviceItems(count: Int, rest: VaultSlot)

    case nothing(as: VaultSlot)
    case nothingWhileOthersOfItsKindOpen
    case nothingButRollbacksGoUnnoticed
  }

  let key: Key
  let consequence: Consequence
}

/// How to open a vault again if no key on this machine opens it.
enum VaultRescue: Equatable {
  case backup
  case deviceKey(path: String)
}

extension VaultStatus {
  /// Whether the vault is known to be shared, which its list of members says, or such a grant.
  var isShared: Bool {
    kind == .shared || slots.contains { [.readsAndWrites, .reads].contains($0.grant) }
  }

  /// The slots that open everything, and may change what opens the vault.
  var fullSlots: [VaultSlot] { slots.filter { $0.grant == .administers } }

  /// Whether anything opens the whole vault: this machine's device key, or a key that a person has.
  var canBeOpened: Bool {
    fullSlots.contains { $0.kind != .device || $0.isThisDevice == true }
  }

  /// How to open the vault again if no key on this machine opens it.
  var rescue: VaultRescue {
    fullSlots.contains { $0.kind == .device } ? .deviceKey(path: deviceSecretPath) : .backup
  }

  /// What is lost with each file, and with each key that people have.
  var losses: [VaultLoss] {
    let kinds: [SlotKind] = [.passphrase, .keyFile, .recipient, .recoveryCode]
    // No device key opens a shared vault.
    let device = isShared ? [] : [VaultLoss(key: .deviceKey, consequence: lossOfDeviceKey)]
    return [VaultLoss(key: .vaultFile, consequence: .everything)] + device
      + kinds.compactMap { kind in
        lossOfSlots(of: kind).map { VaultLoss(key: .slots(kind), consequence: $0) }
      } + [VaultLoss(key: .seenRecord, consequence: .nothingButRollbacksGoUnnoticed)]
  }

  private var lossOfDeviceKey: VaultLoss.Consequence {
    guard let other = fullSlots.first(where: { $0.kind != .device }) else {
      return .everythingAsNothingElseOpens
    }
    let bound = itemsByAccessibility.filter { $0.key.isThisDeviceOnly }.values.reduce(0, +)
    return bound > 0 ? .deviceItems(count: bound, rest: other) : .nothing(as: other)
  }

  /// Returns what is lost with the only slot of a kind that a person has; `nil` if there is no such
  /// slot.
  private func lossOfSlots(of kind: SlotKind) -> VaultLoss.Consequence? {
    guard fullSlots.contains(where: { $0.kind == kind }) else { return nil }
    let others = fullSlots.filter { $0.kind != kind }
    if let other = others.first(where: { $0.kind != .device || $0.isThisDevice == true }) {
      return .nothing(as: other)
    }
    if fullSlots.count(where: { $0.kind == kind }) > 1 { return .nothingWhileOthersOfItsKindOpen }
    if let other = others.first { return .everythingUnlessDeviceKeyIsFound(slot: other.number) }
    return slots.contains { $0.isThisDevice == true } ? .everythingLocked : .everything
  }
}
