// A program needs only `import Keychain`: types of these modules occur in this module's signatures,
// and with member import visibility a program would otherwise have to import each module to use
// their members. They are separate modules for programs that need only a part.
@_exported public import KeychainCredentials
@_exported public import KeychainSecretService
@_exported public import KeychainSecrets
@_exported public import KeychainStores
@_exported public import KeychainVault
@_exported public import PreferencesCore
