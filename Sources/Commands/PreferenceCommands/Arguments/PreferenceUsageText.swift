/// The errors of arguments; the argument parser prefixes some with the option's name.
enum PreferenceUsageText {
  static let domainMissing = "name a domain with --domain"
  static let oneForm = "choose one of --json, --plist and --raw"
  static let oneFormat = "choose one of --json and --plist"
  static let type = "choose one of " + ValueKind.allCases.map(\.rawValue).joined(separator: ", ")
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

  /// Returns why a name cannot be that of a domain, before a store is asked; `nil` if it can.
  static func problem(ofDomain name: String) -> String? {
    if name.contains("/") {
      return "a domain is a name, not the path of a file; 'import' and 'export' take files"
    }
    if name.isEmpty { return "the name of the domain is empty" }
    return DefaultsUsage.globalDomains.contains(name) ? DefaultsUsage.noGlobalDomain : nil
  }

  /// Returns an example of a type's text.
  static func example(of kind: ValueKind) -> String {
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
