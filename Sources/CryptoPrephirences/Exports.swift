// One `import CryptoPrephirences` is all that a program needs: keys and preferences occur in this
// module's signatures.
@_exported public import KeychainSecrets
@_exported public import Prephirences
