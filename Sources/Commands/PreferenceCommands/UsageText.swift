internal import PrephirencesCommandLine

/// The errors of arguments; the argument parser prefixes some with the option's name.
enum PreferenceUsageText {
  static let domainMissing = "name a domain with --domain"
  static let oneForm = "choose one of --json, --plist and --raw"
  static let oneFormat = "choose one of --json and --plist"
  static let type = "choose one of " + ValueType.allCases.map(\.rawValue).joined(separator: ", ")
  static let typeToWrite = type + ", json, plist"
  static let valueMissing = "give a value, or - to read it from standard input"
  static let oneValue = "give one value; put quotes around a value with spaces"
  static let valueTwice = "the value is given twice"
  static let oneType = "the type is given twice"
  static let pairs = "a dictionary needs a value for each key"
  static let optionsFirst =
    "-array and -dict take the rest of the line; put other options before them, and -string before "
    + "an element that begins with a dash"
  static let inputInJSON = "elements are not read from standard input; --json reads a value from it"
  static let pairsInJSON = "--json takes a dictionary such as '{\"a\": 1}'"
  static let rawInput = "--raw goes with a value from standard input, which is -"
  static let rawType = "--raw goes with --type string or data"
  static let acceptsFiles = "a file is accepted, not a shared store; leave --store out"
  static let absentOrExpected = "--if-absent and --expect exclude each other"
  static let expectSimple = "--expect does not go with -array-add and -dict-add"
  static let keysOrAll = "name keys, or delete all with --all"
  static let untilOneKey = "--until needs exactly one key"
  static let onceOrUntil = "--once and --until exclude each other"
  static let rawNeedsKey = "--raw needs a key"
  static let defaultNeedsKey = "--default needs a key"
  static let typeNeedsKey = "--type needs a key"
  static let overwriteFile = "--overwrite goes with a file"
  static let domainsOfAll = "--domains and --domain exclude each other"
  static let diffOfDryRun = "--diff-json goes with --dry-run"
  static let duration = "write a time such as 500ms, 10s, 2m or 1h"
  static let dash = "put -- before a value that begins with a dash"
  static let emptyCollection = "--type array or --type dict without a value is an empty one"
  static let domainFirst = "the domain is named with --domain"

  /// The errors that an unknown option may have caused.
  static let doubtful: Set<String> = [
    domainMissing, valueMissing, oneValue, keysOrAll, untilOneKey, pairs,
  ]

  /// Returns why a name cannot be a domain's, before a store is asked, or `nil` if it can.
  static func problem(ofDomain name: String) -> String? {
    if name.contains("/") {
      return "a domain is a name, not the path of a file; 'import' and 'export' take files"
    }
    if name.isEmpty { return "the name of the domain is empty" }
    return DefaultsUsage.globalDomains.contains(name) ? DefaultsUsage.noGlobalDomain : nil
  }

  /// Returns an example of a type's text.
  static func example(of kind: ValueType) -> String {
    switch kind {
    case .string: "text"
    case .int: "digits, such as 8080"
    case .float, .double: "a number such as 0.5"
    case .bool: "true or false"
    case .date: "a date such as 2027-01-31 or 2027-01-31T12:00:00Z"
    case .data: "pairs of hexadecimal digits, or use - and --raw"
    case .url: "a URL such as https://example.com"
    case .uuid: "a UUID such as E621E1F8-C36C-495A-93FC-0C247A3E6E5F"
    case .decimal: "a number of at most 38 digits"
    case .array: "JSON such as '[1, 2]'"
    case .dict: "JSON such as '{\"a\": 1}'"
    }
  }
}

/// The errors of the arguments of shared stores.
enum SyncUsageText {
  static let onePassword = "--password-file and --password-ref exclude each other"
  static let connectionNeedsStore = "the options for etcd, such as --user, go with --store"
  static let certificateAndKey = "--cert and --key go together"
  static let reference = "--password-ref takes a reference such as keychain://etcd/fleet"
  static let passwordNeedsUser = "there is a password, but no user"
  static let addUser = "add --user"
  static let addUserOrVariable = "add --user, or set ETCDCTL_USER"
  static let addPassword = "add --password-file or --password-ref"
  static let forgetInOneSuite = "--forget needs the name of one suite"
  static let rehearsalOffline = "--dry-run tries the connection, which --offline leaves out"
  static let lastNegative = "--last takes a number that is not negative"
  static let storeNeedsDomain = "name the domain with --domain; --store lists one shared store"
}

/// What users of `defaults` on a Mac type, and what to type here.
enum DefaultsUsage {
  /// The names that `defaults` has for the domain of all programs.
  static let globalDomains: Set<String> = [
    "-g", "-globalDomain", "NSGlobalDomain", "Apple Global Domain",
  ]

  static let noGlobalDomain = "there is no global domain; name the domain of a program"

  /// Returns what to type instead of a line without a known command.
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
    ValueType.ofDefaults[argument] != nil || collections[argument] != nil
  }

  private static func ofMachine(_ word: String) -> OtherUsage? {
    guard ["-currentHost", "-host"].contains(word) else { return nil }
    return OtherUsage("preferences are always those of this machine", hint: "leave \(word) out")
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

  /// The commands of `defaults` that have another name here.
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
