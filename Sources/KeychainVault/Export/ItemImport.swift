internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat

/// What the vault has for an item of an export.
enum ItemMeeting {
  /// The vault has no item with this identity.
  case nothing

  /// The vault has the same item.
  case itself

  /// The vault has a different item with this identity.
  case other(VaultItem)

  /// The vault has an item with this identity that must be unlocked first.
  case locked(Accessibility.UnlockRequirement)
}

extension ItemSealing {
  /// Compares an exported item with the item of the same identity in the vault.
  func meeting(
    of item: borrowing OpenedItem, in contents: VaultContents
  ) throws(KeychainError) -> ItemMeeting {
    let identity = item.credential.identity
    let name = "\(identity)"
    guard let old = try contents.item(id(of: identity), keys, name: name) else { return .nothing }
    // It is bound to a device, so no export can contain the same item.
    guard !isOfOtherDevice(old.entry) else { return .other(old) }
    guard keys.satisfies(old.requirement) else { return .locked(old.requirement) }
    let (metadata, index) = try old.metadata(keys, name: name)
    let sealed = try metadata.copy(at: index)
    let secret = try secret(of: old, in: contents, name: name)
    let isSame =
      old.accessibility == item.credential.accessibility
      && sealed.bytes.isEqual(to: item.metadata) && secret.isEqual(to: item.secret)
    return isSame ? .itself : .other(old)
  }
}

extension VaultWriter {
  /// Seals an exported item with its dates, in place of the one that the vault has.
  mutating func put(
    _ item: borrowing OpenedItem, replacing old: VaultItem?
  ) throws(KeychainError) {
    var credential = item.credential
    if let old, sealing.isOfOtherDevice(old.entry) { throw .otherDevice("\(credential.identity)") }
    credential.version = ItemEntry.newVersion()
    try put(credential, secret: item.secret)
  }
}

/// The progress of an import, with the outcome of the items so far.
struct ImportCourse {
  private(set) var report: ImportReport
  private(set) var added: [CredentialIdentity] = []
  private let total: Int
  private let progress: ((VaultProgress) -> Void)?
  private var completed = 0

  init(
    _ survey: ExportFile.Survey, overwriting: Bool, progress: ((VaultProgress) -> Void)?
  ) {
    report = ImportReport(isOverwriting: overwriting, leftOutCount: survey.leftOutCount)
    total = survey.itemCount
    self.progress = progress
  }

  mutating func note(_ item: borrowing OpenedItem, _ meeting: ItemMeeting) {
    switch meeting {
    case .nothing:
      report.addedCount += 1
      added.append(item.credential.identity)
    case .itself: report.unchangedCount += 1
    case .other, .locked: report.differing.append(item.credential.identity)
    }
    completed += 1
    if completed.isMultiple(of: 100) || completed == total {
      progress?(VaultProgress(completed: completed, total: total))
    }
  }
}
