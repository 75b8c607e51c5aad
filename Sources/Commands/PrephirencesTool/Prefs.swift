internal import ArgumentParser
internal import CPrephirencesGlibc
internal import KeychainCommands
internal import KeychainCredentials
internal import KeychainSecrets
internal import PreferenceCommands
internal import PreferencesCore
internal import PreferencesDurable
internal import PreferencesShared

/// The command `prefs`.
@main
struct Prefs: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prefs",
    abstract: "Keep preferences, and credentials encrypted",
    version: """
      \(KeychainCommandLine.version)
      with libsodium \(SecretsLibrary.version) and SQLite \(DatabaseLibrary.version)
      """,
    groupedSubcommands: [
      CommandGroup(name: "Preferences", subcommands: PreferencesCommand.subcommands),
      CommandGroup(name: "Credentials", subcommands: [KeychainCommand.self]),
    ])

  static func main() {
    SharedStorePasswords.prepare()
    KeychainCommandLine.main(Self.self)
  }
}

/// Reads passwords of shared stores from the keychain.
enum SharedStorePasswords {
  /// Sets the reader for shared preferences; nothing is opened yet.
  static func prepare() {
    SharedPreferences.readReferences { reference in
      do throws(KeychainError) {
        return try KeychainCommandLine.secret(at: reference, in: Prefs.self).withBytes { span in
          (0..<span.byteCount).map { span.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
        }
      } catch {
        throw PreferencesError(error.code == .notFound ? .notFound : .locked, error.message)
      }
    }
  }
}
