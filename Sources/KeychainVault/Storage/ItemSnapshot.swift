internal import Foundation
internal import KeychainCredentials
internal import KeychainVaultFormat
internal import PrephirencesFiles

/// The items of a vault as they were at one moment, without their secrets; their names stay sealed.
struct ItemSnapshot: Sendable {
  /// Whether it was read; else nothing can be told to have changed since.
  var isKnown = false

  /// What tells the moment: every transaction seals the state row anew.
  var stateBox: Data?

  /// What tells the root key; `nil` where there was no vault.
  var checks: VaultChecks?

  /// The file, since two vaults may have items of one version.
  var file: FileIdentity?

  var items: [Data: ItemRow] = [:]

  /// A change of an item: the row as it is now, or as it was if it is gone.
  struct Change: Hashable {
    let kind: CredentialChange.Kind
    let row: ItemRow
  }

  /// The changes that lead from this moment to another, what is gone first, the rest in the order in
  /// which it was changed.
  func changes(to new: ItemSnapshot) -> [Change] {
    guard isKnown else { return [] }
    var gone = items.filter { new.items[$0.key] == nil }.map(\.value)
    var come = new.items.filter { items[$0.key] == nil }.map(\.value)
    let updated = new.items.values.filter { row in
      items[row.id].map { $0.version != row.version } ?? false
    }
    if checks != new.checks, file == new.file { Self.dropSealedAnew(&gone, &come) }
    let present =
      come.map { Change(kind: .added, row: $0) } + updated.map { Change(kind: .updated, row: $0) }
    return gone.map { Change(kind: .removed, row: $0) }
      + present.sorted { $0.row.version < $1.row.version }
  }

  /// Under a new root key every item has another id, and keeps its version, which is of one
  /// transaction alone: as many of a version and a class as have gone are the ones that came.
  private static func dropSealedAnew(_ gone: inout [ItemRow], _ come: inout [ItemRow]) {
    var counts: [VersionAndClass: Int] = [:]
    for row in gone { counts[VersionAndClass(row), default: 0] += 1 }
    var stayed: [VersionAndClass: Int] = [:]
    come.removeAll { row in
      guard let count = counts[VersionAndClass(row)], count > 0 else { return false }
      counts[VersionAndClass(row)] = count - 1
      stayed[VersionAndClass(row), default: 0] += 1
      return true
    }
    gone.removeAll { row in
      guard let count = stayed[VersionAndClass(row)], count > 0 else { return false }
      stayed[VersionAndClass(row)] = count - 1
      return true
    }
  }

  /// What an item keeps when it is sealed anew.
  private struct VersionAndClass: Hashable {
    let version: UInt64
    let accessibility: Accessibility

    init(_ row: ItemRow) {
      version = row.version
      accessibility = row.accessibility
    }
  }
}

extension ItemSnapshot {
  /// Reads all items: one pass, the secrets left out.
  ///
  /// A damaged row is none that changed, so the row of before stays in its place.
  init(
    _ rows: any VaultRows, file: FileIdentity?, after old: ItemSnapshot
  ) throws(KeychainError) {
    isKnown = true
    stateBox = try rows.stateBox()
    checks = try rows.vaultRow().checks
    self.file = file
    var items: [Data: ItemRow] = [:]
    try rows.forEachItem { id, row throws(KeychainError) in items[id] = row ?? old.items[id] }
    self.items = items
  }
}
