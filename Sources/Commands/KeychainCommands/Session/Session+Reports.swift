internal import KeychainCredentials
internal import KeychainStores
internal import KeychainVault
internal import PrephirencesCommandLine

extension Session {
  /// Calls `body` with a closure that shows progress.
  func withProgress<Result>(
    _ body: (@escaping (VaultProgress) -> Void) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    var shown = 0
    defer { if shown > 0 { interface.endProgress() } }
    return try body { progress in
      // A hundred updates are enough for any vault, and a small one needs none.
      let step = max(progress.total / 100, 100)
      guard progress.completed >= shown + step else { return }
      shown = progress.completed
      interface.progress("\(progress.completed) of \(Words.items(progress.total))")
    }
  }

  /// Reports credentials in the desktop keyring, which a copy or export of the vault does not
  /// contain.
  func reportKeyring(_ query: CredentialQuery = CredentialQuery()) {
    switch stores.keyringHoldings(query) {
    case .nothing: return
    case .counted(let credentials, let services):
      interface.say(StoreText.leftInKeyring(credentials, services))
    case .unknown(let services, let failure):
      interface.say(StoreText.leftUncounted(services, failure))
    }
    interface.hint(StoreText.movingOutOfKeyring(ServiceName(query)))
  }
}
