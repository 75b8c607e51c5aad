internal import Foundation
internal import KeychainCredentials
internal import KeychainVaultFormat
internal import PrephirencesFiles

/// The items of a vault at one moment, without their secrets.
///
/// Their names stay sealed.
struct ItemSnapshot: Sendable {
  /// Whether it was read.
  ///
  /// Otherwise no changes since then are known.
  var isKnown = false

  /// Identifies the moment: every transaction seals the state again.
  var stateBox: Data?

  /// Identifies the root key; `nil` if there was no vault.
  var checks: VaultChecks?

  /// The file, because a copy of a vault may have items with the same versions.
  var file: FileIdentity?

  var items: [Data: ItemRow] = [:]

  /// A change of an item, with its present row, or its last row if it is gone.
  struct Change: Hashable {
    let kind: CredentialChange.Kind
    let row: ItemRow
  }

  /// Returns the changes from this moment to another: removed items first, then the others.
  ///
  /// Nothing shows in which order they happened, because versions are random.
  func changes(to new: ItemSnapshot) -> [Change] {
    guard isKnown else { return [] }
    var gone = items.filter { new.items[$0.key] == nil }.map(\.value)
    var come = new.items.filter { items[$0.key] == nil }.map(\.value)
    let updated = new.items.values.filter { row in
      items[row.id].map { $0.version != row.version } ?? false
    }
    if checks != new.checks, file == new.file { Self.dropResealed(&gone, &come) }
    return Self.changes(.removed, gone) + Self.changes(.added, come)
      + Self.changes(.updated, updated)
  }

  private static func changes(
    _ kind: CredentialChange.Kind, _ rows: some Sequence<ItemRow>
  ) -> [Change] {
    // The same order each time.
    rows.sorted { $0.id.lexicographicallyPrecedes($1.id) }.map { Change(kind: kind, row: $0) }
  }

  /// Removes the items that were only sealed again.
  ///
  /// Under a new root key every item has another id but keeps its version, which no other item has.
  /// So removed and new items of the same version and class are paired.
  private static func dropResealed(_ gone: inout [ItemRow], _ come: inout [ItemRow]) {
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

  /// What an item keeps when it is sealed again.
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
  /// Reads all items without their secrets, in one pass.
  ///
  /// A damaged row does not count as changed: its previous row stays.
  init(
    _ rows: any VaultRows, file: FileIdentity?, after old: ItemSnapshot
  ) throws(KeychainError) {
    isKnown = true
    stateBox = try rows.stateBox()
    checks = try rows.headRow().checks
    self.file = file
    var items: [Data: ItemRow] = [:]
    try rows.forEachItem { id, row throws(KeychainError) in items[id] = row ?? old.items[id] }
    self.items = items
  }
}
