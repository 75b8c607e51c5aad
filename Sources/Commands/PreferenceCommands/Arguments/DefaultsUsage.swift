internal import PrephirencesCommandLine

/// What people type who know `defaults` of a Mac, and what to type here.
enum DefaultsUsage {
  /// The names by which `defaults` knows the domain of all programs.
  static let globalDomains: Set<String> = [
    "-g", "-globalDomain", "NSGlobalDomain", "Apple Global Domain",
  ]

  static let noGlobalDomain = "there is no global domain; name the domain of a program"

  /// Returns what to type instead of a line without a command of these names.
  static func ofCommand(_ arguments: [String]) -> OtherUsage? {
    guard let word = arguments.first else { return nil }
    if let hint = hints[word] { return OtherUsage(nil, hint: hint) }
    return ofMachine(word) ?? ofDomain(word)
  }

  /// Returns what to type instead of the arguments of a command.
  static func ofArguments(_ arguments: [String]) -> OtherUsage? {
    if let usage = arguments.last.flatMap(ofCollection) { return usage }
    // Elements and values may be such words.
    let options = arguments.prefix { !isValueOption($0) }
    return options.lazy.compactMap(ofMachine).first
      ?? options.lazy.filter { $0.hasPrefix("-") }.compactMap(ofDomain).first
      ?? arguments.first.flatMap(ofDomain)
  }

  private static func isValueOption(_ argument: String) -> Bool {
    ValueKind.ofDefaults[argument] != nil || collections[argument] != nil
  }

  private static func ofMachine(_ word: String) -> OtherUsage? {
    guard ["-currentHost", "-host"].contains(word) else { return nil }
    return OtherUsage(
      "preferences are always those of this machine", hint: "leave \(word) out")
  }

  private static func ofDomain(_ word: String) -> OtherUsage? {
    if globalDomains.contains(word) { return OtherUsage(noGlobalDomain, hint: domains) }
    guard word == "-app" else { return nil }
    return OtherUsage("a program is named by its domain, with --domain", hint: domains)
  }

  private static func ofCollection(_ word: String) -> OtherUsage? {
    collections[word].map { OtherUsage("\(word) needs \($0) after it", hint: empty(word)) }
  }

  private static let collections = [
    "-array": "elements", "-array-add": "elements", "-dict": "keys and values",
    "-dict-add": "keys and values",
  ]

  private static func empty(_ word: String) -> String {
    word.hasSuffix("-add")
      ? "put other options before it" : PreferenceUsageText.emptyCollection
  }

  private static var domains: String { "'\(path) list' shows the domains" }

  /// The commands of `defaults` that have no such name here.
  private static var hints: [String: String] {
    [
      "read-type": "'\(path) list KEY\(domain)' shows the type",
      "rename": "to rename a preference, write the new key, then delete the old one",
      "delete-all": "'\(path) delete --all\(domain)' deletes all preferences of a domain",
      "domains": domains,
      "find": "'\(path) list '*WORD*'\(domain)' finds keys",
    ]
  }

  private static var path: String { PreferenceCommandContext.current.commandPath }
  private static var domain: String { PreferenceCommandContext.current.domainExample }
}
