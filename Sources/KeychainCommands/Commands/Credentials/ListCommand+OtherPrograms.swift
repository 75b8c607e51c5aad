internal import KeychainCredentials
internal import KeychainSecretService
internal import KeychainStores

// Items of other programs that have no names of a credential are counted, and shown if asked for.
extension ListCommand {
  /// Those that a search found and that are to be shown.
  func unlistedItems(
    of result: CredentialSearchResult, in session: Session
  ) throws(KeychainError) -> [UnlistedItem] {
    guard result.unlistedCount > 0, showsUnlisted, !filter.isActive else { return [] }
    return try session.stores.unlistedItems(matching: CredentialAttributes(attribute))
      .filter { pattern?.matches($0.label) ?? true }
  }

  /// Says how many are not shown.
  func tellOfUnlisted(_ result: CredentialSearchResult, _ interface: UserInterface) {
    // They have a label and no expiry; who looks for something else misses none of them.
    guard result.unlistedCount > 0, !showsUnlisted, pattern == nil, !filter.isActive else { return }
    interface.say(CredentialText.unlisted(result.unlistedCount))
  }

  /// Says where they may be, if nothing looks there.
  func tellOfKeyringLeftOut(_ query: CredentialQuery, _ session: Session) {
    guard showsUnlisted, query.service == nil, query.server == nil, session.stores.leavesKeyringOut
    else { return }
    session.interface.hint(StoreText.keyringLeftOut)
  }

  /// Prints them after the credentials.
  func print(_ items: [UnlistedItem]) throws(KeychainError) {
    guard !items.isEmpty else { return }
    try StandardOutput.write(
      StandardOutput.isTerminal
        ? CredentialText.table(items).columns : CredentialText.fields(items).lines)
  }

  private var showsUnlisted: Bool { otherPrograms || !attribute.isEmpty }
}
