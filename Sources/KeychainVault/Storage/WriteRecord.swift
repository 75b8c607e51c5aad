internal import Foundation
internal import KeychainVaultFormat

/// What one transaction writes.
final class WriteRecord {
  /// The items written, without their secrets; `nil` for one that is removed.
  private(set) var items: [Data: ItemRow?] = [:]
  private(set) var checks: VaultChecks?
  private(set) var stateAfter: Data?
  let stateBefore: Data?

  init(stateBefore: Data?) { self.stateBefore = stateBefore }

  func put(_ row: ItemRow) {
    items[row.id] = .some(row.withoutSecret)
  }

  func remove(_ id: Data) { items[id] = .some(nil) }
  func put(_ row: HeadRow) { checks = row.checks }
  func putState(_ box: Data) { stateAfter = box }
}
