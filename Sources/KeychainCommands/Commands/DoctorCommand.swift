internal import ArgumentParser
internal import KeychainCredentials

/// Explains the state of the keychain.
struct DoctorCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Explain which store is used, what protects it, and what to do next",
    discussion: """
      Nothing is asked and nothing is changed.

      Example:
        \(keychainPath) doctor
      """)

  @Flag(help: "Print JSON")
  var json = false

  @OptionGroup(title: "Common options") var common: CommonOptions

  func perform(in session: Session) throws(KeychainError) {
    let diagnosis = Diagnosis(session)
    try StandardOutput.write(
      json
        ? try JSONText.text(DiagnosisJSON(diagnosis))
        : UserInterface.description(of: diagnosis))
    if let failure = diagnosis.failure { throw failure }
  }
}
