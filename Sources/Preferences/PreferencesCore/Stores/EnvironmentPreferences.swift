internal import FoundationEssentials

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

  /// Creates preferences from variables.
  ///
  /// - Parameters:
  ///   - variables: The values by their names.
  ///   - prefix: The prefix of the variables' names, such as `APP_`.
  public init(_ variables: [String: String], prefix: String = "") {
    self.variables = variables.filter { $0.key.hasPrefix(prefix) && $0.key != prefix }
    self.prefix = prefix
  }

  /// Returns the text of a variable.
  ///
  /// - Parameter key: The key, or the name of the variable, which is tried first.
  /// - Returns: The text; `nil` if there is no such variable.
  public func object(forKey key: PreferenceKey) -> PreferenceObject? {
    variables[prefix + key] ?? variables[key] ?? variables[prefix + Self.name(of: key)]
  }

  /// Returns the names of all variables.
  ///
  /// With a prefix, the names are without it and in lower case, like keys.
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
