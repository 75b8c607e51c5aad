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
  case other(ItemRow)

  /// The vault has an item with this identity that must be unlocked first.
  case locked(Accessibility.UnlockRequirement)
}

extension ItemSealing {
  /// Compares an exported item with the item of the same identity in the vault.
  func meeting(
    of item: borrowing ExportedItem, id: Data, in rows: any VaultRows, _ tree: HashTree
  ) throws(KeychainError) -> ItemMeeting {
    let identity = item.credential.identity
    let name = "\(identity)"
    guard let row = try rows.findItem(id, name: name, in: tree) else { return .nothing }
    // It is bound to a device, so no export can contain the same item.
    guard !isOfOtherDevice(row) else { return .other(row) }
    guard keys.satisfies(row.accessibility.unlockRequirement) else {
      return .locked(row.accessibility.unlockRequirement)
    }
    let old = try opened(row, group: identity.accessGroup, name: name)
    let isSame =
      row.accessibility == item.credential.accessibility
      && old.metadata.isEqual(to: item.metadata) && old.secret.isEqual(to: item.secret)
    return isSame ? .itself : .other(row)
  }
}

extension VaultWriter {
  /// Seals an exported item with its dates, and replaces the old item with it.
  mutating func put(
    _ item: borrowing ExportedItem, id: Data, replacing row: ItemRow?
  ) throws(KeychainError) {
    var credential = item.credential
    credential.version = try ItemVersion.random()
    if let row, sealing.isOfOtherDevice(row) { throw .otherDevice("\(credential.identity)") }
    let new = try sealing.seal(
      credential, metadata: item.metadata, secret: item.secret, id: id)
    try noteGroup(credential.identity.accessGroup, credential.accessibility)
    try put(new, replacing: row)
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

  /// Whether anything is written.
  var changesSomething: Bool {
    !added.isEmpty || (report.isOverwriting && !report.differing.isEmpty)
  }

  mutating func note(_ item: borrowing ExportedItem, _ meeting: ItemMeeting) {
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
