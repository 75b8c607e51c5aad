// One `import Keychain` is all that a program needs: the types of these modules occur in this
// module's signatures, and with member import visibility a program could not use their members
// without importing each. They stay modules of their own for programs that need only a part.
@_exported public import KeychainCredentials
@_exported public import KeychainSecretService
@_exported public import KeychainSecrets
@_exported public import KeychainStores
@_exported public import KeychainTerminal
@_exported public import KeychainVault
@_exported public import Prephirences
