/// Arguments of a command line as preferences that can only be read.
///
/// | argument | is |
/// | --- | --- |
/// | `--key=value` | the text of the key, which may be empty and may have further `=` |
/// | `--key value`, `-key value` | the text of the key; the value is the next argument |
/// | `--key`, `-key` at the end, or in front of an option | `true` |
/// | `--flag`, `-flag` for a key that is listed as a flag | `true`, whatever follows |
/// | `--` | the end of the options |
/// | anything else | an operand, see ``operands`` |
///
/// A value may begin with a dash only if it is a number, as in `-offset -5`; any other is written
/// `--key=-value`. Of several values of one key, the last counts.
///
/// An option is found by its name, and by a key in the spelling of Swift: `--log-level` by `logLevel` and
/// `log.level`.
///
/// What an argument is follows from those around it, so a program that takes operands lists its flags:
/// only then is `--verbose FILE` a flag and an operand. A flag can still be given a value, as in
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

  /// The arguments that are no options, nor values of options, in their order.
  public private(set) var operands: [String] = []

  /// Reads the arguments of the process.
  ///
  /// - Parameter flags: The keys or names that have no value in the next argument.
  public init(flags: Set<PreferenceKey> = []) {
    self.init(Array(CommandLine.arguments.dropFirst()), flags: flags)
  }

  /// Reads arguments.
  ///
  /// - Parameters:
  ///   - arguments: The arguments, without the name of the program.
  ///   - flags: The keys or names that have no value in the next argument.
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

  /// Adds an option, with its value if that is the next argument.
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

  /// Whether an argument names a key; a dash alone is an operand by custom, and numbers are values.
  private static func isOption(_ argument: String) -> Bool {
    argument.hasPrefix("-") && argument != "-" && argument != "--" && Double(argument) == nil
  }

  /// The name of the option of a key.
  private static func name(of key: PreferenceKey) -> String {
    KeyWords.of(String(key.drop { $0 == "-" })).joined(separator: "-").lowercased()
  }

  /// Returns the text of an option, or `true` if it has none.
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
