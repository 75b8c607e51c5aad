internal import ArgumentParser
internal import FoundationEssentials
internal import Prephirences
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// Sets the preferences that a file has.
struct ImportCommand: RehearsableSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Set the preferences that a file has",
    discussion: """
      The file is JSON or a property list, in XML or binary, such as one of UserDefaults or one that \
      'export' has written. All of its preferences are set, or none; a shared store gets them in \
      pieces, and may have some of them if that fails. Others stay, unless --replace deletes them. A null in JSON is no value; it is left out and reported.

      --dry-run changes nothing. It prints a line with '-' for each value that would go, and one with \
      '+' for each that would come: sign, key, type and value.

      Example:
        \(preferencesPath) import settings.json\(domainExample)
        \(preferencesPath) import ~/.config/web.plist --replace\(domainExample)
      """)

  @Argument(help: "The file, or - for standard input", completion: .file())
  var file: String

  @OptionGroup var format: FileFormatOptions

  @Flag(help: "Delete the preferences that the file doesn't have")
  var replace = false

  @OptionGroup var rehearsal: DryRunOptions

  @Flag(help: "Don't wait for the disk; a power failure may lose the values")
  var noSync = false

  @Option(help: InputFile.deadlineHelp, transform: DurationText.argument)
  var deadline: Duration?

  @OptionGroup(title: "Common options") var options: DomainOptions

  func validate() throws { try options.require(file) }

  func perform(in session: PreferenceSession) throws {
    let (values, omitted) = try read()
    let domain = try session.domain
    if let omitted { session.interface.say("left out null: \(omitted)") }
    if replace, try domain.exists(), try domain.store.isWithoutFile() { _ = try domain.keys() }
    var plan: ImportPlan?
    try domain.change(.inPieces) { domain in
      let old = try domain.contents()
      // What is not known cannot be deleted, and would come back.
      if replace, let failure = old.importFailure { throw failure }
      let made = ImportPlan(values, old, replaces: replace)
      for key in made.removed { try domain.set(nil, forKey: key) }
      if replace { try domain.store.removeDamagedKeys() }
      for (key, value) in made.added + made.changed { try domain.set(value, forKey: key) }
      plan = made
    }
    try session.finish(domain, waits: !noSync)
    if let plan { session.interface.say(report(plan, domain)) }
  }

  private func read() throws -> (values: [ImportPlan.Entry], omitted: String?) {
    let data = try InputFile.read(file, within: deadline)
    do throws(PreferencesError) {
      return try (format.chosen ?? FileFormat(of: data)).values(of: data)
    } catch {
      throw CommandLineError.malformed(
        file == "-" ? "standard input" : "'\(file)'", error.message)
    }
  }

  private func report(_ plan: ImportPlan, _ domain: PreferenceDomain) -> String {
    let count = plan.added.count + plan.changed.count + plan.unchangedCount
    let removed = plan.removed.isEmpty ? "" : ", \(plan.removed.count) deleted"
    return
      "\(rehearsal.dryRun ? "would import" : "imported") \(Words.counted(count, "preference")) into "
      + "'\(domain.name)': \(plan.added.count) new, \(plan.changed.count) changed, "
      + "\(plan.unchangedCount) the same\(removed)"
  }
}
