internal import KeychainCredentials
internal import KeychainStores

extension Session {
  /// Says what a file that was made of the vault leaves out, as it is in the desktop keyring.
  func tellOfKeyring(_ query: CredentialQuery = CredentialQuery()) {
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
