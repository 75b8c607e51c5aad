internal import ArgumentParser
internal import PreferencesCore
internal import PreferencesDurable
internal import PrephirencesCommandLine

/// Uses a domain whose last changes are missing.
struct AcceptRestoredCommand: PreferenceSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "accept-restored",
    abstract: "Use a domain whose last changes are missing",
    discussion: """
      If a domain's log was changed or removed, or an older copy of its file was restored, its \
      commands end with 65. 'list' then shows what is left, and ends with 65, too. To continue \
      with that, accept it; to have the rest, restore a copy of all files of the domain instead. \
      The next change after this command makes the loss final.

      Example:
        \(preferencesPath) list\(domainExample)
        \(preferencesPath) accept-restored\(domainExample)
      """)

  @Flag(name: .shortAndLong, help: "Don't ask")
  var yes = false

  @OptionGroup(title: "Common options") var options: DomainOptions

  func validate() throws {
    try options.require(nil)
    guard options.shared.store == nil else {
      throw ValidationError(PreferenceUsageText.acceptsFiles)
    }
  }

  func perform(in session: PreferenceSession) throws {
    let domain = try session.existingDomain()
    guard case let contents = try domain.contents(),
      (contents.otherKeysFailure as? PreferencesError)?.code == .rolledBack
    else { return session.interface.say("no changes of '\(domain.name)' are missing") }
    if !yes {
      let left = Words.counted(contents.values.count, "preference")
      try session.context.confirm("changes of '\(domain.name)' are missing; use the \(left) left?")
    }
    let missing = try DurablePreferences(suiteName: domain.name).acceptRestored()
    session.interface.say(
      "\(Words.counted(Int(clamping: missing), "change")) of '\(domain.name)' "
        + "\(Words.are(Int(clamping: missing))) missing; what is left is used from now on")
  }
}
