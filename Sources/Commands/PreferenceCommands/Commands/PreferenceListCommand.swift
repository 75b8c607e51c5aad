internal import ArgumentParser
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// Lists domains, or the preferences of one.
struct PreferenceListCommand: PreferenceSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List domains, or the preferences of one",
    discussion: """
      Without a domain, the domains are listed, each with the number of its preferences and its file. \
      A terminal gets a table with shortened values, and a pipe a line for each, whose fields are \
      separated by tabs: key, type and value, or domain, number and file; backslash, tab and newline are \
      written \\\\, \\t and \\n.

      A pattern has *, ?, [a-z] and [!a-z], as in a shell, and must match the whole name; put it in \
      quotes.

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
      try ValueOutput.write(.array(values.map { Self.json($0.key, $0.value) }))
    } else {
      let rows = values.map { [$0.key, $0.value.kind.rawValue, $0.value.line] }
      try ValueOutput.write(TextTable(header: ["KEY", "TYPE", "VALUE"], rows: rows))
    }
    try session.require(contents)
  }

  private func listDomains(_ session: PreferenceSession) throws {
    var failures: [any Error] = []
    var found: [(name: String, count: Int?, path: String)] = []
    for domain in try PreferenceDomain.all() where pattern?.matches(domain.name) ?? true {
      do {
        found.append((domain.name, try domain.keys().count, domain.path))
      } catch {
        // The others are listed all the same.
        failures.append(error)
        found.append((domain.name, nil, domain.path))
      }
    }
    if json {
      try ValueOutput.write(.array(found.map(Self.json)))
    } else {
      let rows = found.map { [$0.name, $0.count.map { "\($0)" } ?? "?", $0.path] }
      try ValueOutput.write(TextTable(header: ["DOMAIN", "KEYS", "FILE"], rows: rows))
    }
    try session.interface.fail(with: failures)
  }

  static func json(_ key: String, _ value: StoredValue) -> JSONValue {
    .object([
      JSONValue.Member(name: "key", value: .string(key)),
      JSONValue.Member(name: "type", value: .string(value.kind.rawValue)),
      JSONValue.Member(name: "value", value: value.plainJSON),
    ])
  }

  private static func json(_ name: String, _ count: Int?, _ path: String) -> JSONValue {
    .object([
      JSONValue.Member(name: "domain", value: .string(name)),
      JSONValue.Member(name: "keys", value: count.map { .number("\($0)") } ?? .null),
      JSONValue.Member(name: "path", value: .string(path)),
    ])
  }
}
