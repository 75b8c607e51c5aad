internal import ArgumentParser
internal import PreferencesCore
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// Prints preferences.
struct ReadCommand: PreferenceSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "read",
    abstract: "Print a preference, or all of a domain",
    discussion: """
      Text is printed as it is, with a newline; numbers in digits, truth values as true or false, \
      dates in UTC, data in hexadecimal digits, arrays and dictionaries as JSON. --json and \
      --plist print every value in that form, in JSON with dates as text and data in base 64. \
      Without a key, everything is printed.

      With --type, a value of another type is an error; a number is printed as the other kind of \
      number if that holds it exactly. If the key or the domain is missing, it prints the \
      --default, or ends with 44. Nothing is created.

      With --store, it reads this machine's copy of that store after bringing it in step. If that \
      fails, it reads the copy as it is, and reports its age on standard error.

      Example:
        port=$(\(preferencesPath) read port --type int\(domainExample))
        \(preferencesPath) read --json\(domainExample)
      """)

  @Argument(help: "The key; all if there is none", completion: .keys)
  var key: String?

  @Option(
    name: .shortAndLong, help: .init("Fail unless the value has this type", valueName: "name"),
    completion: .list(ValueType.allCases.map(\.rawValue)), transform: ReadCommand.kind)
  var type: ValueType?

  @Option(
    parsing: .unconditional,
    help: .init("What to print if there is no such key", valueName: "value"))
  var `default`: String?

  @OptionGroup var form: ReadFormOptions
  @OptionGroup(title: "Common options") var options: DomainOptions

  func validate() throws {
    try options.require(key)
    guard key == nil else { return }
    guard type == nil else { throw ValidationError(PreferenceUsageText.typeNeedsKey) }
    guard `default` == nil else { throw ValidationError(PreferenceUsageText.defaultNeedsKey) }
    guard !form.raw else { throw ValidationError(PreferenceUsageText.rawNeedsKey) }
  }

  func perform(in session: PreferenceSession) throws {
    guard let key else {
      let contents = try session.existingDomain().contents()
      try show(all: contents.values, session)
      return try session.require(contents)
    }
    guard let value = try stored(key, session) else { return }
    try show(value, key, session)
  }

  /// Returns the value of the key, or the default, or `nil` if the default was already printed.
  private func stored(_ key: String, _ session: PreferenceSession) throws -> PreferenceValue? {
    if let value = try session.domain.value(forKey: key) {
      guard let type else { return value }
      guard let converted = value.converted(to: type) else {
        throw CommandLineError.otherType(key, value.type, type)
      }
      return converted
    }
    guard let text = `default` else {
      throw session.missing(key, in: try session.existingDomain())
    }
    let kind = type ?? .string
    guard kind != .array, kind != .dict else { return try PreferenceValue.json(text) }
    guard let value = PreferenceValue(text, as: kind, local: PreferenceSession.local) else {
      throw CommandLineError.noValue(kind, PreferenceUsageText.example(of: kind))
    }
    return value
  }

  private func show(
    _ value: PreferenceValue, _ key: String, _ session: PreferenceSession
  ) throws {
    if form.json {
      try session.output.write(value.plainJSON)
    } else if form.plist {
      try session.output.write(file: PropertyListText.data(of: value, forKey: key))
    } else if form.raw {
      try session.output.write(value.bytes)
    } else if [.array, .dict].contains(value.type) {
      try session.output.write(value.plainJSON)
    } else {
      try session.output.write(lines: value.text)
    }
  }

  private func show(
    all values: [(key: String, value: PreferenceValue)], _ session: PreferenceSession
  ) throws {
    if form.plist {
      try session.output.write(file: PropertyListText.data(of: values))
    } else {
      try session.output.write(
        .object(values.map { JSONValue.Member(name: $0.key, value: $0.value.plainJSON) }))
    }
  }

  private static func kind(_ name: String) throws -> ValueType {
    guard let kind = ValueType.named(name) else { throw ValidationError(PreferenceUsageText.type) }
    return kind
  }
}

struct PreferenceListCommand: PreferenceSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List domains, or the preferences of one",
    discussion: """
      Without a domain, the domains are listed, each with the number of its preferences and its \
      file. A terminal gets a table with shortened values, and a pipe a line for each, whose \
      fields are separated by tabs: key, type and value, or domain, number and file; backslash, \
      tab and newline are written \\\\, \\t and \\n.

      A pattern has *, ?, [a-z] and [!a-z], as in a shell, and must match the whole name; put it \
      in quotes.

      Example:
        \(preferencesPath) list
        \(preferencesPath) list 'server.*'\(domainExample)
      """,
    aliases: ["ls"])

  @Argument(
    help: "Only keys, or domains, that match, such as 'server.*'", transform: NamePattern.init)
  var pattern: NamePattern?

  @Flag(help: "List the domains, also where one is the default")
  var domains = false

  @Flag(help: "Print JSON")
  var json = false

  @OptionGroup(title: "Common options") var options: DomainOptions

  func validate() throws {
    guard !domains || options.domain == nil else {
      throw ValidationError(PreferenceUsageText.domainsOfAll)
    }
    guard options.shared.store == nil || !domains && options.name != nil else {
      throw ValidationError(SyncUsageText.storeNeedsDomain)
    }
  }

  func perform(in session: PreferenceSession) throws {
    guard !domains, options.name != nil else { return try listDomains(session) }
    let contents = try session.existingDomain().contents()
    let values = contents.values.filter { pattern?.matches($0.key) ?? true }
    if json {
      try session.output.write(.array(values.map { Self.json($0.key, $0.value) }))
    } else {
      let rows = values.map { [$0.key, $0.value.type.rawValue, $0.value.line] }
      try session.output.write(TextTable(header: ["KEY", "TYPE", "VALUE"], rows: rows))
    }
    try session.require(contents)
  }

  private func listDomains(_ session: PreferenceSession) throws {
    var failures: [any Error] = []
    var found: [(name: String, count: Int?, path: String)] = []
    for name in try session.context.domains.names() where pattern?.matches(name) ?? true {
      let domain = session.context.domain(named: name)
      do {
        found.append((domain.name, try domain.keys().count, domain.path))
      } catch {
        // The others are listed anyway.
        failures.append(error)
        found.append((domain.name, nil, domain.path))
      }
    }
    if json {
      try session.output.write(.array(found.map(Self.json)))
    } else {
      let rows = found.map { [$0.name, $0.count.map { "\($0)" } ?? "?", $0.path] }
      try session.output.write(TextTable(header: ["DOMAIN", "KEYS", "FILE"], rows: rows))
    }
    try session.interface.fail(with: failures)
  }

  static func json(_ key: String, _ value: PreferenceValue) -> JSONValue {
    .object([
      ("key", .string(key)), ("type", .string(value.type.rawValue)), ("value", value.plainJSON),
    ])
  }

  private static func json(_ name: String, _ count: Int?, _ path: String) -> JSONValue {
    .object([
      ("domain", .string(name)), ("keys", count.map { .number($0) } ?? .null),
      ("path", .string(path)),
    ])
  }
}
