internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainVault
internal import PrephirencesCommandLine

/// Shows a summary of the vault's state.
struct StatusCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show whether the vault exists, and what is readable",
    usage: usage("status [<options>]"),
    discussion: """
      Nothing is asked and nothing is changed; 'doctor' shows more.

      Example:
        \(keychainPath) status --json
      """)

  @Flag(help: "Print JSON")
  var json = false

  @OptionGroup(title: "Common options") var common: CommonOptions

  func perform(in session: Session) throws(KeychainError) {
    let status = try session.vault.status()
    let problem = session.vault.sourceProblem()
    try CommandOutput.write(
      json
        ? try CommandOutput.json(StatusJSON(status, sourceProblem: problem))
        : VaultText.description(of: status, sourceProblem: problem))
    session.hintAtMissingVault()
  }
}
