internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainVault

/// Accepts a vault that was put back from a backup.
struct AcceptRestoredCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "accept-restored",
    abstract: "Accept a vault that was restored from a backup",
    usage: usage("accept-restored [<options>]"),
    discussion: """
      An older copy of the vault is refused until a person says that it is meant, and so is one of \
      two copies that were both changed. How it differs from what was seen here last is shown \
      before, and every slot that opens it: one that was removed may be there again. On a terminal \
      a yes is asked for; elsewhere --yes says it.

      Example:
        \(keychainPath) accept-restored
      """)

  @Flag(name: .shortAndLong, help: "Do not ask")
  var yes = false

  @OptionGroup(title: "Common options") var common: CommonOptions

  func perform(in session: Session) throws(KeychainError) {
    let isAccepted = try session.vault.acceptRestored { differences throws(KeychainError) in
      for line in UserInterface.lines(of: differences) {
        session.interface.say(line, isAskedAbout: !yes)
      }
      return try session.confirm(UserInterface.questionToAcceptRestored, assumingYes: yes)
    }
    session.interface.say(isAccepted ? UserInterface.accepted : UserInterface.nothingToAccept)
  }
}
