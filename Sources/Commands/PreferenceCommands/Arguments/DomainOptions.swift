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

  @OptionGroup var shared: StoreOptions

  func validate() throws {
    guard let domain else { return }
    if let problem = PreferenceUsageText.problem(ofDomain: domain) {
      throw ValidationError(problem)
    }
  }

  /// The domain, which may be the host's own; `nil` if none is named.
  var name: String? { domain ?? PreferenceCommandContext.current.defaultDomain }

  /// Returns the domain; its name was checked with the arguments.
  ///
  /// - Parameter isRehearsal: Whether its changes are noted instead of made.
  /// - Returns: The domain.
  /// - Throws: `PreferencesError` or `CommandLineError` if the address or a setting cannot be used.
  func open(isRehearsal: Bool) throws -> PreferenceDomain {
    let name = name ?? ""
    let store = try store(named: name, isRehearsal)
    return PreferenceDomain(named: name, in: isRehearsal ? RehearsedDomain(store) : store)
  }

  private func store(named name: String, _ isRehearsal: Bool) throws -> any DomainStore {
    guard let address = shared.store else { return FileDomain(named: name) }
    let interface = UserInterface(
      hostName: PreferenceCommandContext.current.hostName, isQuiet: quiet)
    return try shared.domainStore(named: name, at: address, isRehearsal: isRehearsal) {
      interface.say($0)
    }
  }

  /// Fails if no domain is named.
  ///
  /// - Parameters:
  ///   - word: The first argument, in whose place `defaults` has the domain.
  ///   - isExtra: Whether the command has no use for so many arguments.
  /// - Throws: The error of the argument, which names the option.
  func require(_ word: String?, isExtra: Bool = false) throws {
    guard name == nil else { return }
    guard let word, isExtra || PreferenceDomain.names().contains(word) else {
      throw ValidationError(PreferenceUsageText.domainMissing)
    }
    let option = "--domain \(ShellText.quoted(word))"
    throw ValidationError("\(PreferenceUsageText.domainMissing); did you mean '\(option)'?")
  }
}
