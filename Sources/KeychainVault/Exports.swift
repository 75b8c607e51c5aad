// The kinds of slots, recipients, checks and recovery codes occur in this module's signatures: one
// `import KeychainVault` is all that a program needs of them.
@_exported public import KeychainVaultFormat
