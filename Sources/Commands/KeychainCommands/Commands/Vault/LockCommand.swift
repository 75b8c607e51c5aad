internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainVault
internal import PrephirencesCommandLine

/// Locks the vault.
struct LockCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "lock",
    abstract: "Lock the vault, for running programs too",
    usage: usage("lock [<options>]"),
    discussion: """
      Credentials of the accessibility afterFirstUnlock stay readable until the next boot, unless \
      --all is given. The keys are forgotten even if the vault is gone or changed.

      Example:
        \(keychainPath) lock --all
      """)

  @Flag(help: "Also lock what one unlock opens until the next boot")
  var all = false

  @OptionGroup(title: "Common options") var common: CommonOptions

  func perform(in session: Session) throws(KeychainError) {
    let wasSeen = try session.vault.lockWhatWasSeen(all: all)
    let status: VaultStatus
    do throws(KeychainError) {
      status = try session.vault.status()
    } catch {
      throw wasSeen ? error.afterForgettingKeys : error
    }
    if !status.exists {
      session.interface.hint(
        wasSeen
          ? VaultText.lockedAndGone(status.path) : VaultText.nothingToLock(status.path))
    } else if status.readable == .unlockedNow {
      session.interface.hint(VaultText.staysUnlocked)
    }
  }
}
