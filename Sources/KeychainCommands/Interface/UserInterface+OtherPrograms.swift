internal import KeychainCredentials
internal import KeychainSecretService
internal import KeychainStores

extension UserInterface {
  /// The items of other programs that have no names of a credential, for a terminal.
  static func table(_ items: [UnlistedItem]) -> TextTable {
    TextTable(
      header: ["ITEM OF ANOTHER PROGRAM", "MODIFIED", "ATTRIBUTES"],
      rows: items.map { item in
        [item.label, modified(item), pairs(item).joined(separator: " ")]
      })
  }

  /// The same for a pipe: the fields of credentials, then a field for each attribute.
  static func fields(_ items: [UnlistedItem]) -> TextTable {
    TextTable(
      header: [],
      rows: items.map { item in
        ["", "", "", "", modified(item), "", item.label, StoreKind.secretService.rawValue]
          + pairs(item)
      })
  }

  static func unlisted(_ count: Int) -> String {
    "\(items(count)) of other programs \(are(count)) not listed; --other-programs shows "
      + (count == 1 ? "it" : "them")
  }

  static let keyringLeftOut =
    "the desktop keyring is not searched, as no service has its credentials there; "
    + "--store secret-service searches it"

  private static func modified(_ item: UnlistedItem) -> String {
    item.modified.map(DateText.text) ?? ""
  }

  private static func pairs(_ item: UnlistedItem) -> [String] {
    item.attributes.map { "\($0.name)=\($0.value)" }
  }
}

extension KeychainError {
  /// Several items have the attributes that were to find one.
  static func ambiguous(_ credentials: [Credential], _ items: [UnlistedItem]) -> Self {
    let names =
      credentials.map(\.identity.description)
      + items.map { "the item '\($0.label)' of another program" }
    return Self(
      .ambiguous, "\(names.count) items match: \(names.joined(separator: "; "))",
      recovery: "name more of the attributes; '\(KeychainCommandContext.current.commandPath) list "
        + "--other-programs\(KeychainCommandContext.current.scopeOption())' shows those of other programs"
    )
  }

  static let unlistedIsGone = KeychainError(
    .notFound, "the item was removed from the desktop keyring meanwhile")
}
