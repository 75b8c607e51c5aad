internal import FoundationEssentials
internal import Prephirences
internal import PrephirencesCommandLine

/// What a command works with.
struct PreferenceSession {
  let context: PreferenceCommandContext
  let interface: UserInterface
  private let options: DomainOptions
  private let rehearsal: ValueDifference.Form?
  private let opened = OpenedDomain()

  init(
    _ options: DomainOptions, _ rehearsal: ValueDifference.Form?,
    _ context: PreferenceCommandContext
  ) {
    self.options = options
    self.rehearsal = rehearsal
    self.context = context
    interface = UserInterface(hostName: context.hostName, isQuiet: options.quiet)
  }

  /// The domain; its name was checked with the arguments.
  var domain: PreferenceDomain {
    get throws {
      if let domain = opened.domain { return domain }
      let domain = try options.open(isRehearsal: rehearsal != nil)
      opened.domain = domain
      return domain
    }
  }

  /// Returns the domain if it has preferences.
  ///
  /// - Throws: The failure that there is no such domain, or that its name is not one.
  func existingDomain() throws -> PreferenceDomain {
    let domain = try domain
    guard try domain.exists() else {
      guard options.shared.store == nil else { throw CommandLineError.noSharedStore(domain.name) }
      throw CommandLineError.noDomain(
        domain.name, resembling: PreferenceDomain.names().resembling(domain.name),
        context.commandPath)
    }
    return domain
  }

  /// Fails if a domain has values that cannot be read, after those that can were shown.
  func require(_ contents: DomainContents) throws {
    try interface.fail(
      with: contents.unreadable.map(\.failure) + [contents.importFailure].compactMap(\.self))
  }

  /// Ends changes of a domain, or shows what would change; reports if values that `UserDefaults` has
  /// saved are not among them.
  ///
  /// - Parameters:
  ///   - domain: The domain that was changed.
  ///   - waits: Whether to wait until everything is on the disk.
  /// - Throws: The failure to put it there.
  func finish(_ domain: PreferenceDomain, waits: Bool) throws {
    if let rehearsal, let rehearsed = domain.store as? RehearsedDomain {
      let found = try rehearsed.differences()
      try ValueOutput.write(found.differences, as: rehearsal)
      for failure in found.unreadable {
        if let failure = CommandHost.current.failure(of: failure) { interface.say(failure.message) }
      }
      if found.differences.isEmpty, found.unreadable.isEmpty {
        interface.say("nothing would change")
      }
    } else if waits {
      try domain.store.synchronize()
    }
    if let failure = domain.store.failureOfImport { interface.say(failure.message) }
  }

  /// Returns the failure that a domain has no such key.
  func missing(_ key: String, in domain: PreferenceDomain) -> CommandLineError {
    .noKey(key, in: domain.name, resembling: ((try? domain.keys()) ?? []).resembling(key))
  }

  /// Returns the moment at which local clocks show what clocks in UTC show at a date.
  static func local(_ shown: Date) -> Date { LocalTime.current.moment(of: shown) }
}

/// The domain of a command, which is opened once: a connection may have been made for it.
private final class OpenedDomain {
  var domain: PreferenceDomain?
}
