public import KeychainCredentials
public import KeychainSecrets
internal import PrephirencesSystem

extension NetrcFile {
  /// Returns the text of a netrc file with one entry for each selection, for a program that reads its
  /// passwords from such a file.
  ///
  /// The entry of a host has the only internet password of this host and port: one of `https` before
  /// one without a protocol, and one for the whole host before one that is limited to a path. Without a
  /// port in the selection, the usual one of `https` is meant. Passwords of other protocols and ports, and
  /// logins that docker stored, are never taken.
  ///
  /// Only what curl, Python and SwiftPM read alike is written: values with quotes, backslashes, control
  /// characters, or white space other than the blank are refused.
  ///
  /// - Parameters:
  ///   - selections: The servers.
  ///   - store: Where the passwords are.
  ///   - accessGroup: The access group of the passwords; empty for the unnamed one.
  ///   - unlock: Unlocks the stores of a query whose search found only locked items, or throws.
  /// - Returns: The text. It is empty without selections.
  /// - Throws: ``KeychainError``, with ``KeychainError/Code/notFound`` if a host has no password,
  ///   ``KeychainError/Code/ambiguous`` if it has several that are as good,
  ///   ``KeychainError/Code/expired``, ``KeychainError/Code/refused`` if a value cannot be written,
  ///   ``KeychainError/Code/invalidArgument`` if a host is selected twice, or as the store.
  public static func contents(
    for selections: [NetrcSelection], in store: any CredentialStore, accessGroup: String = "",
    unlock: (CredentialQuery) throws(KeychainError) -> Void = { _ in }
  ) throws(KeychainError) -> SecretBytes {
    for (index, selection) in selections.enumerated() {
      let isRepeated = selections[..<index].contains { $0.host.hasSameBytes(as: selection.host) }
      guard !isRepeated else { throw .repeatedInNetrc(selection.host) }
    }
    return try withoutActuallyEscaping(unlock) { unlock throws(KeychainError) in
      let finder = NetrcItemFinder(store: store, accessGroup: accessGroup, unlock: unlock)
      var writer = try NetrcWriter()
      for selection in selections {
        let stored = try finder.secret(for: selection)
        try writer.append(
          host: selection.host, login: stored.credential.identity.account,
          password: stored.secret)
      }
      return try writer.finish()
    }
  }
}
