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
      Damage is found without unlocking. What is unlocked is also opened, and proved against somebody who \
      has the device key; the command says as far as which unlock it looked. A damaged credential is shown \
      with its id, which 'compact --drop' deletes. Nothing is changed.

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
