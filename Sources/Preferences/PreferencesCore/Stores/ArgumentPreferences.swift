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

  /// Reads arguments.
  ///
  /// - Parameters:
  ///   - arguments: The arguments, without the name of the program.
  ///   - flags: The keys or names of options without a value in the next argument.
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

  /// Returns whether an argument is an option; a single dash is an operand by convention, and
  /// numbers are values.
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
