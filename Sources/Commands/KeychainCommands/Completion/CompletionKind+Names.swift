internal import ArgumentParser
internal import KeychainVault
internal import PrephirencesCommandLine

/// The names that the shell offers, which are read without unlocking anything.
extension CompletionKind {
  /// The services that have credentials.
  static var services: Self { .names { $0.services } }

  /// The servers that have internet passwords.
  static var servers: Self { .names { $0.servers } }

  /// The accounts of the service or server that the line names.
  static var accounts: Self { .names { $0.accounts } }

  /// References to the credentials.
  static var references: Self { .names { $0.references } }

  /// The access groups, except the unnamed one.
  static var accessGroups: Self { .names { $0.accessGroups } }

  /// The numbers of the slots.
  static var slots: Self { .names { $0.slotNumbers { _ in true } } }

  /// The numbers of the passphrases' slots.
  static var passphraseSlots: Self { .names { $0.slotNumbers { $0.kind == .passphrase } } }

  private static func names(_ find: @escaping @Sendable (NameCompletions) -> [String]) -> Self {
    .names { line in find(NameCompletions(line: line, context: .current)) }
  }
}
