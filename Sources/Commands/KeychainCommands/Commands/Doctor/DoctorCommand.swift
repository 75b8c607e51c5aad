internal import ArgumentParser
internal import KeychainCredentials
internal import KeychainStores
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// Explains the state of the keychain.
struct DoctorCommand: KeychainSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Explain which store is used, what protects it, and what to do next",
    discussion: """
      Nothing is asked, started, unlocked or changed. With --service or --server the store is \
      explained that its credentials have, or would get.

      Example:
        \(keychainPath) doctor
        \(keychainPath) doctor --service example.com
      """)

  @Option(
    name: .shortAndLong, parsing: .unconditional,
    help: .init("The service that it is about", valueName: "name"), completion: .services)
  var service: String?

  @Option(
    parsing: .unconditional, help: .init("The server that it is about", valueName: "host"),
    completion: .servers)
  var server: String?

  @Flag(help: "Print JSON")
  var json = false

  @OptionGroup(title: "Which store") var stores: StoreOptions
  @OptionGroup(title: "Common options") var common: CommonOptions

  var storeOptions: StoreOptions? { stores }

  /// It looks at many things, each of which another process may hold up.
  var asking: Asking { Asking(deadline: Deadline(after: common.deadline ?? .seconds(10))) }

  func validate() throws {
    if service != nil && server != nil {
      throw ValidationError(UsageText.serviceOrServer)
    }
  }

  func perform(in session: Session) throws(KeychainError) {
    let name =
      service.map { ServiceName(.service, $0) } ?? server.map { ServiceName(.server, $0) }
    // As if it were not set, a file that others can read would be passed over.
    _ = try translated(EnvironmentVariables.process.value("NETRC"))
    let diagnosis = Diagnosis(session, service: name)
    try CommandOutput.write(
      json
        ? try CommandOutput.json(DiagnosisJSON(diagnosis))
        : DiagnosisText(diagnosis: diagnosis).text)
    session.hintAtMissingVault()
    if let failure = diagnosis.failure ?? diagnosis.sourceProblem { throw failure }
  }
}
