internal import ArgumentParser
internal import PrephirencesCommandLine

/// Deletes preferences.
struct DeleteCommand: RehearsableSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete preferences",
    discussion: """
      All of the keys are deleted, or none if one is missing. --all deletes every preference of the \
      domain, and asks before that. --dry-run deletes nothing; it prints a line for each value that \
      would go: '-', key, type and value.

      Example:
        \(preferencesPath) delete port\(domainExample) --if-exists
        \(preferencesPath) delete --all\(domainExample) --yes
      """,
    aliases: ["rm"])

  @Argument(help: "The keys", completion: .keys)
  var keys: [String] = []

  @Flag(help: "Delete every preference of the domain")
  var all = false

  @Flag(name: .shortAndLong, help: "Don't ask")
  var yes = false

  @Flag(help: "Succeed if a key or the domain is missing")
  var ifExists = false

  @Flag(help: "Don't wait for the disk; a power failure may restore the values")
  var noSync = false

  @OptionGroup var rehearsal: DryRunOptions

  @OptionGroup(title: "Common options") var options: DomainOptions

  func validate() throws {
    try options.require(keys.first)
    guard keys.isEmpty == all else { throw ValidationError(PreferenceUsageText.keysOrAll) }
  }

  func perform(in session: PreferenceSession) throws {
    if ifExists, try !session.domain.exists() { return }
    let domain = try session.existingDomain()
    if all {
      try deleteAll(of: domain, session)
    } else {
      if try domain.store.isWithoutFile() { try check(domain, session) }
      try domain.change { domain in
        try check(domain, session)
        for key in keys { try domain.set(nil, forKey: key) }
      }
    }
    try session.finish(domain, waits: !noSync)
  }

  /// Fails if a key is missing, or if it is not known whether it is.
  private func check(_ domain: PreferenceDomain, _ session: PreferenceSession) throws {
    for key in keys where try !domain.hasValue(forKey: key) && !ifExists {
      throw session.missing(key, in: domain)
    }
  }

  private func deleteAll(of domain: PreferenceDomain, _ session: PreferenceSession) throws {
    let count = try domain.keys().count
    guard count > 0 else { return }
    if !yes, !rehearsal.dryRun {
      try Confirmation.require(
        "delete all \(Words.counted(count, "preference")) of '\(domain.name)'?",
        as: session.context.hostName)
    }
    try domain.change(.inPieces) { domain in
      for key in try domain.keys() { try domain.set(nil, forKey: key) }
      try domain.store.removeDamagedKeys()
    }
  }
}
