// A program needs only `import ConfigurationKeychain` to name a vault and what opens it.
@_exported public import Keychain
