internal import ArgumentParser
internal import FoundationEssentials
internal import PreferencesCore
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// Sets a preference.
struct WriteCommand: RehearsableSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "write",
    abstract: "Set a preference",
    discussion: """
      A value without a type is text, whatever it looks like; so that a program still finds its \
      number, it doesn't replace a value of another type. '-' reads the value from standard input, \
      without a newline at the end. An array takes its elements, and a dictionary keys and values; \
      json takes any value. The spellings of 'defaults' work, too: -string, -int, -float, -bool, \
      -date, -data, -array, -dict, -array-add and -dict-add.

      The command returns when the value is on the disk, or ends with 81 if it is set but may not \
      be there. If the key has a value, or not the expected one, --if-absent and --expect change \
      nothing and end with 75; no other process can come in between, and for a shared store no \
      other machine. If a value for a shared store is given up because another machine has set one \
      at the same time, the code is 75, too.

      --dry-run changes nothing, and ends as the command would. It prints a line with '-' for a \
      value that would go, and one with '+' for one that would come: sign, key, type and value, in \
      a pipe with tabs between them. With --store, it shows what would change in the store.

      Example:
        \(preferencesPath) write port 8080 --type int\(domainExample)
        \(preferencesPath) write motd -\(domainExample) < motd.txt
        \(preferencesPath) write servers --json '["a", "b"]'\(domainExample)
        \(preferencesPath) write offset\(domainExample) --type int -- -5
      """)

  @Argument(help: "The key", completion: .keys)
  var key: String

  @Argument(help: "The value, or - for standard input")
  var value: [String] = []

  @OptionGroup var written: ValueOptions

  @Flag(help: "Change nothing if the key has a value")
  var ifAbsent = false

  @Option(
    parsing: .unconditional,
    help: .init("Change nothing unless the key has this value", valueName: "value"))
  var expect: String?

  @Flag(help: "Don't wait for the disk; a power failure may lose the value")
  var noSync = false

  @OptionGroup var rehearsal: DryRunOptions

  @Option(help: InputFile.deadlineHelp, transform: DurationText.argument)
  var deadline: Duration?

  @OptionGroup(title: "Common options") var options: DomainOptions

  func validate() throws {
    try written.checkElements()
    try options.require(key, isExtra: written.isExtra(value))
    try written.check(value)
    guard !ifAbsent || expect == nil else {
      throw ValidationError(PreferenceUsageText.absentOrExpected)
    }
    guard !written.adds || !ifAbsent && expect == nil else {
      throw ValidationError(PreferenceUsageText.expectSimple)
    }
  }

  func perform(in session: PreferenceSession) throws {
    let domain = try session.domain
    let new = try newValue(session)
    let expected = try expect.map { try Self.read([$0], as: formOfExpected) }
    guard try expected == nil || domain.exists() else {
      throw CommandLineError.unexpected(key, isAbsent: true)
    }
    if try domain.store.isWithoutFile() {
      try check(replacedValue(in: domain), expected, in: domain)
    }
    try domain.change(ifAbsent || expected != nil ? .conditional : .asOne) { domain in
      let old = try replacedValue(in: domain)
      try check(old, expected, in: domain)
      try domain.set(try written.adds ? added(new, to: old) : new, forKey: key)
    }
    try session.finish(domain, waits: !noSync)
  }

  /// Returns the value that is replaced, or `nil` if there is none, or if it cannot be read and
  /// nothing depends on it.
  private func replacedValue(in domain: PreferenceDomain) throws -> PreferenceValue? {
    do {
      return try domain.value(forKey: key)
    } catch let error as PreferencesError
      where [.damaged, .insecure, .readOnly, .unstorable].contains(error.code)
    {
      guard !ifAbsent, expect == nil, !written.adds else { throw error }
      return nil
    }
  }

  /// Fails if the stored value does not meet the options' conditions.
  private func check(
    _ old: PreferenceValue?, _ expected: PreferenceValue?, in domain: PreferenceDomain
  ) throws {
    if ifAbsent, old != nil { throw CommandLineError.exists(key, in: domain.name) }
    if let expected, old != expected {
      throw CommandLineError.unexpected(key, isAbsent: old == nil)
    }
    if written.form == nil, let old, old.type != .string {
      throw CommandLineError.typeWouldChange(key, old.type)
    }
  }

  /// The form of the expected value, which is a whole value even if elements are given one by one.
  private var formOfExpected: WrittenForm {
    switch written.form {
    case .text(.array), .text(.dict): .json
    case let form: form ?? .text(.string)
    }
  }

  private func newValue(_ session: PreferenceSession) throws -> PreferenceValue {
    let form = written.form ?? .text(.string)
    let words = written.words(value)
    guard words == ["-"], value == ["-"] else { return try Self.read(words, as: form) }
    guard !form.isCollection else {
      throw CommandLineError(ExitCodes.usage, PreferenceUsageText.inputInJSON)
    }
    session.interface.sayWaiting(for: "the value")
    let input = try InputFile.read("-", session.console.input, within: deadline)
    if written.raw, form == .text(.data) { return .data(input) }
    if form == .propertyList { return try PropertyListText.value(of: input) }
    guard var text = input.utf8Text else { throw CommandLineError.inputNotText }
    if !written.raw, text.utf8.last == UInt8(ascii: "\n") {
      text = String(text.unicodeScalars.dropLast())
    }
    return try Self.read([text], as: form)
  }

  private static func read(_ words: [String], as form: WrittenForm) throws -> PreferenceValue {
    try PreferenceValue.read(words, as: form, local: PreferenceSession.local)
  }

  /// Returns a collection followed by the new elements.
  private func added(_ new: PreferenceValue, to old: PreferenceValue?) throws -> PreferenceValue {
    switch (old, new) {
    case (nil, _): return new
    case (.array(let elements), .array(let more)): return .array(elements + more)
    case (.dictionary(let values), .dictionary(let more)):
      return .dictionary(values.merging(more) { $1 })
    case (let old?, _): throw CommandLineError.otherType(key, old.type, new.type)
    }
  }
}

/// Deletes preferences.
struct DeleteCommand: RehearsableSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete preferences",
    discussion: """
      All of the keys are deleted, or none if one is missing. --all deletes every preference of \
      the domain, and asks before that. --dry-run deletes nothing; it prints a line for each value \
      that would go: '-', key, type and value.

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

  /// Fails if a key is missing, or if that is unknown.
  private func check(_ domain: PreferenceDomain, _ session: PreferenceSession) throws {
    for key in keys where try !domain.hasValue(forKey: key) && !ifExists {
      throw session.missing(key, in: domain)
    }
  }

  private func deleteAll(of domain: PreferenceDomain, _ session: PreferenceSession) throws {
    let count = try domain.keys().count
    guard count > 0 else { return }
    if !yes, !rehearsal.dryRun {
      try session.context.confirm(
        "delete all \(Words.counted(count, "preference")) of '\(domain.name)'?")
    }
    try domain.change(.inPieces) { domain in
      for key in try domain.keys() { try domain.set(nil, forKey: key) }
      try domain.store.removeDamagedKeys()
    }
  }
}
