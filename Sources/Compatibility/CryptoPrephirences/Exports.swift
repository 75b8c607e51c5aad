// `import CryptoPrephirences` is enough: keys and preferences are part of this module's signatures.
@_exported public import KeychainSecrets
@_exported public import Prephirences
