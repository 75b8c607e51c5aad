internal import Foundation
internal import KeychainCredentials
internal import KeychainVaultFormat

/// Finds the names of access groups that are not known beforehand.
struct AccessGroupNames {
  private let rows: any VaultRows
  private let sealing: ItemSealing

  /// The groups of the vault; the names of those that are locked or damaged are `nil`.
  private var names: [Key: String?]?

  private struct Key: Hashable {
    let token: Data
    let accessibility: Accessibility
  }

  init(rows: any VaultRows, sealing: ItemSealing) {
    self.rows = rows
    self.sealing = sealing
  }

  /// Returns the group of an item, by the one token that it shares with a group.
  ///
  /// If the name is damaged or gone, the item does not open under the one that this returns.
  mutating func name(of item: ItemRow) throws(KeychainError) -> String {
    (try known(item) ?? nil) ?? ""
  }

  /// Whether an item is of a named group.
  mutating func hasGroup(_ item: ItemRow) throws(KeychainError) -> Bool {
    try known(item) != nil
  }

  private mutating func known(_ item: ItemRow) throws(KeychainError) -> String?? {
    let names: [Key: String?]
    if let loaded = self.names { names = loaded } else { names = try load() }
    self.names = names
    guard !names.isEmpty else { return nil }
    for token in item.allTokens {
      if let name = names[Key(token: token, accessibility: item.accessibility)] { return name }
    }
    return nil
  }

  private func load() throws(KeychainError) -> [Key: String?] {
    var names: [Key: String?] = [:]
    for row in try rows.accessGroups() {
      let isOpen = sealing.keys.satisfies(row.accessibility.unlockRequirement)
      // Items of a damaged name are reported one by one.
      let name = isOpen ? try? sealing.groupName(row) : nil
      names.updateValue(name, forKey: Key(token: row.token, accessibility: row.accessibility))
    }
    return names
  }
}
