/// Arguments of a command line as preferences that can only be read.
///
/// | argument | is |
/// | --- | --- |
/// | `--key=value` | the text of the key, which may be empty and may have further `=` |
/// | `--key` | `true` |
/// | `-key value` | the text of the key, as `UserDefaults` reads it; the value is the next argument |
/// | `-key` at the end, or in front of an option | `true` |
/// | `--` | the end of the options |
/// | anything else | an operand, see ``operands`` |
///
/// A value may begin with a dash only if it is a number, as in `-offset -5`; any other is written
/// `--key=-value`. Of several values of one key, the last counts.
///
/// ```swift
/// let arguments = ArgumentPreferences()   // myprogram --verbose -port 8080
/// arguments.bool(forKey: "verbose")       // true
/// arguments.integer(forKey: "port")       // 8080
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
  public init() {
    self.init(Array(CommandLine.arguments.dropFirst()))
  }

  /// Reads arguments.
  ///
  /// - Parameter arguments: The arguments, without the name of the program.
  public init(_ arguments: [String]) {
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
      if argument.hasPrefix("--") {
        add(long: argument.dropFirst(2))
      } else if let value = remaining.first, !Self.isOption(value), value != "--" {
        values[String(argument.dropFirst())] = .text(value)
        remaining.removeFirst()
      } else {
        values[String(argument.dropFirst())] = .flag
      }
    }
  }

  private mutating func add(long option: Substring) {
    let parts = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    values[String(parts[0])] = parts.count == 1 ? .flag : .text(String(parts[1]))
  }

  /// Whether an argument names a key; a dash alone is an operand by custom, and numbers are values.
  private static func isOption(_ argument: String) -> Bool {
    argument.hasPrefix("-") && argument != "-" && argument != "--" && Double(argument) == nil
  }

  /// Returns the text of an option, or `true` if it has none.
  public func object(forKey key: PreferenceKey) -> PreferenceObject? {
    switch values[key] {
    case .text(let text): text
    case .flag: true
    case nil: nil
    }
  }

  /// Returns the keys of all options.
  public func keys() -> [String] { Array(values.keys) }
}
