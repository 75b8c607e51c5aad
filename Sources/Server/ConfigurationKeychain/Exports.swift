// A program needs only `import ConfigurationKeychain` to read a configuration, and to name a vault and what opens it.
@_exported public import Keychain

#if ConfigurationSupport
@_exported public import Configuration
#endif
