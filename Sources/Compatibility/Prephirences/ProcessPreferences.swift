internal import FoundationEssentials
public import PreferencesCore

/// The arguments of a command line as read-only preferences.
///
/// | argument | is |
/// | --- | --- |
/// | `--key=value` | the text of the key, which may be empty and may contain `=` |
/// | `--key value`, `-key value` | the text of the key; the value is the next argument |
/// | `--key`, `-key` at the end, or before an option | `true` |
/// | `--flag`, `-flag` for a key that is listed as a flag | `true`, whatever follows |
/// | `--` | the end of the options |
/// | anything else | an operand, see ``operands`` |
///
/// A value may begin with a dash only if it is a number, as in `-offset -5`; write others as
/// `--key=-value`. If a key is repeated, the last value is used.
///
/// The key is the name of the option or its Swift spelling: `logLevel` and `log.level` find
/// `--log-level`.
///
/// The meaning of an argument depends on its neighbours, so a program with operands must list its
/// flags: only then is `--verbose FILE` a flag and an operand. A flag can still have a value, as in
/// `--verbose=no`.
///
/// ```swift
/// // myprogram --port 8080 --verbose notes.txt
/// let arguments = ArgumentPreferences(flags: ["verbose"])
/// arguments.integer(forKey: "port")       // 8080
/// arguments.bool(forKey: "verbose")       // true
/// arguments.operands                      // ["notes.txt"]
/// ```
public struct ArgumentPreferences: PreferencesAdapter, Sendable {
  private enum Value {
    case text(String)
    case flag
  }

  private var values: [PreferenceKey: Value] = [:]

  /// The arguments that are neither options nor values of options, in order.
  public private(set) var operands: [String] = []

  /// Reads the arguments of the process.
  ///
  /// - Parameter flags: The keys or names of options without a value in the next argument.
  public init(flags: Set<PreferenceKey> = []) {
    self.init(Array(CommandLine.arguments.dropFirst()), flags: flags)
  }

  /// Reads arguments, without the name of the program.
  ///
  /// - Parameter flags: The keys or names of options without a value in the next argument.
  public init(_ arguments: [String], flags: Set<PreferenceKey> = []) {
    let flags = Set(flags.flatMap { [Self.name(of: $0), String($0.drop { $0 == "-" })] })
    var remaining = arguments[...]
    while let argument = remaining.popFirst() {
      if argument == "--" {
        operands += remaining
        return
      }
      guard Self.isOption(argument) else {
        operands.append(argument)
        continue
      }
      add(argument, before: &remaining, flags)
    }
  }

  /// Adds an option, and its value if that is the next argument.
  private mutating func add(
    _ option: String, before remaining: inout ArraySlice<String>, _ flags: Set<PreferenceKey>
  ) {
    let isLong = option.hasPrefix("--")
    let name = option.dropFirst(isLong ? 2 : 1)
    if isLong, let equals = name.firstIndex(of: "=") {
      values[String(name[..<equals])] = .text(String(name[name.index(after: equals)...]))
    } else if !flags.contains(String(name)), let value = remaining.first, !Self.isOption(value),
      value != "--"
    {
      values[String(name)] = .text(value)
      remaining.removeFirst()
    } else {
      values[String(name)] = .flag
    }
  }

  /// Whether an argument is an option; a single dash is an operand by convention, and numbers are
  /// values.
  private static func isOption(_ argument: String) -> Bool {
    argument.hasPrefix("-") && argument != "-" && argument != "--" && Double(argument) == nil
  }

  /// Returns the option name of a key.
  private static func name(of key: PreferenceKey) -> String {
    KeyWords.of(String(key.drop { $0 == "-" })).joined(separator: "-").lowercased()
  }

  /// Returns the text of an option, or `true` if it has no value.
  public func object(forKey key: PreferenceKey) -> PreferenceObject? {
    switch values[key] ?? values[Self.name(of: key)] {
    case .text(let text): text
    case .flag: true
    case nil: nil
    }
  }

  /// Returns the keys of all options.
  public func keys() -> [String] { Array(values.keys) }
}

/// The environment of the process as read-only preferences.
///
/// ```swift
/// // APP_PORT=8080 APP_LOG_LEVEL=debug myprogram
/// let environment = EnvironmentPreferences(prefix: "APP_")
/// environment.integer(forKey: "port")       // 8080
/// environment.string(forKey: "logLevel")    // "debug"
/// ```
///
/// The key is the name of a variable, with or without the prefix, or its Swift spelling: the name
/// is then the prefix and the key in upper case, with `_` between the words of `logLevel` and in
/// place of characters that are not letters or digits.
///
/// | key | variable | with the prefix `APP_` |
/// | --- | --- | --- |
/// | `port`, `PORT` | `PORT` | `APP_PORT` |
/// | `logLevel`, `log.level`, `log-level` | `LOG_LEVEL` | `APP_LOG_LEVEL` |
/// | `baseURLPath` | `BASE_URL_PATH` | `APP_BASE_URL_PATH` |
///
/// Without a prefix, keys such as `path`, `user` and `home` find the usual variables of every
/// process. With a prefix, the rest of the environment is hidden.
///
/// All values are text, which the typed getters convert. Later changes of the environment have no
/// effect.
public struct EnvironmentPreferences: PreferencesAdapter, Sendable {
  private let variables: [String: String]
  private let prefix: String

  /// Copies the environment of the process.
  ///
  /// - Parameter prefix: The prefix of the variables' names, such as `APP_`.
  public init(prefix: String = "") {
    self.init(ProcessInfo.processInfo.environment, prefix: prefix)
  }

  /// Creates preferences from variables; the prefix is that of their names, such as `APP_`.
  public init(_ variables: [String: String], prefix: String = "") {
    self.variables = variables.filter { $0.key.hasPrefix(prefix) && $0.key != prefix }
    self.prefix = prefix
  }

  /// Returns the text of a variable, or `nil`; the key is first tried as its name.
  public func object(forKey key: PreferenceKey) -> PreferenceObject? {
    variables[prefix + key] ?? variables[key] ?? variables[prefix + Self.name(of: key)]
  }

  /// Returns the names of all variables; if there is a prefix, without it and in lower case, like
  /// keys.
  public func keys() -> [String] {
    guard !prefix.isEmpty else { return Array(variables.keys) }
    let keys = variables.keys.map { variable in
      let name = String(variable.dropFirst(prefix.count))
      return object(forKey: name.lowercased()) == nil ? name : name.lowercased()
    }
    return Array(Set(keys))
  }

  private static func name(of key: PreferenceKey) -> String {
    KeyWords.of(key).joined(separator: "_").uppercased()
  }
}

/// Splits a key in Swift spelling into words: `logLevel` and `log.level` are `log` and `Level` or
/// `level`.
enum KeyWords {
  /// Returns the words.
  ///
  /// A capital letter starts a word if it follows a small letter or a digit, or precedes a small
  /// letter; any character that is not a letter or digit separates two words, which may be empty.
  static func of(_ key: PreferenceKey) -> [String] {
    let characters = Array(key)
    var words = [""]
    for (index, character) in characters.enumerated() {
      guard character.isLetter || character.isNumber else {
        words.append("")
        continue
      }
      if index > 0, beginsWord(at: index, in: characters) { words.append("") }
      words[words.count - 1].append(character)
    }
    return words
  }

  private static func beginsWord(at index: Int, in characters: [Character]) -> Bool {
    guard characters[index].isUppercase else { return false }
    let last = characters[index - 1]
    if last.isLowercase || last.isNumber { return true }
    return last.isUppercase && index + 1 < characters.count && characters[index + 1].isLowercase
  }
}
