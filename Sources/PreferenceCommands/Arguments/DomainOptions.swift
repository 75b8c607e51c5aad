internal import ArgumentParser
internal import PrephirencesCommandLine

/// The options that every command takes.
struct DomainOptions: ParsableArguments {
  @Option(
    name: .shortAndLong, parsing: .unconditional,
    help: .init("The domain: the suite of a program's preferences", valueName: "name"),
    completion: .domains)
  var domain: String?

  @Flag(name: .shortAndLong, help: "Write only errors to standard error")
  var quiet = false

  func validate() throws {
    guard let domain else { return }
    if let problem = PreferenceUsageText.problem(ofDomain: domain) {
      throw ValidationError(problem)
    }
  }

  /// The domain, which may be the host's own; `nil` if none is named.
  var name: String? { domain ?? PreferenceCommandContext.current.defaultDomain }

  /// Fails if no domain is named.
  func require() throws {
    guard name != nil else { throw ValidationError(PreferenceUsageText.domainMissing) }
  }
}
