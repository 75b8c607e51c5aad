internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainVault
internal import PrephirencesCommandLine

/// Checks the whole vault.
struct VerifyCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check everything in the vault",
    usage: usage("verify [<options>]"),
    discussion: """
      What was changed, dropped or put back outside the program is found without unlocking; what is \
      unlocked is opened too. Nothing is changed.

      Example:
        \(keychainPath) verify && \(keychainPath) backup /backup/vault.db
      """)

  @Flag(help: "Print JSON")
  var json = false

  @OptionGroup(title: "Common options") var common: CommonOptions

  func perform(in session: Session) throws(KeychainError) {
    let report = try session.withProgress { progress throws(KeychainError) in
      try session.vault.verify(progress: progress)
    }
    if json {
      try CommandOutput.write(try CommandOutput.json(VerificationJSON(report)))
    } else {
      try CommandOutput.write(VaultText.summary(of: report))
    }
    for remark in VaultText.remarks(on: report) { session.interface.say(remark) }
    for problem in report.problems { session.interface.error(problem) }
    guard report.isIntact else { throw .notIntact(report.problems.count) }
  }
}
