internal import Foundation

/// The environment of the process as preferences that can only be read.
///
/// ```swift
/// let columns = EnvironmentPreferences().integer(forKey: "COLUMNS")
/// ```
///
/// All values are text, which the typed getters convert. Later changes of the environment are not
/// seen.
public struct EnvironmentPreferences: PreferencesAdapter, Sendable {
  private let variables: [String: String]

  /// Copies the environment of the process.
  public init() {
    self.init(ProcessInfo.processInfo.environment)
  }

  /// Makes preferences of variables.
  ///
  /// - Parameter variables: The values by their names.
  public init(_ variables: [String: String]) {
    self.variables = variables
  }

  /// Returns the text of a variable.
  public func object(forKey key: PreferenceKey) -> PreferenceObject? { variables[key] }

  /// Returns the names of all variables.
  public func keys() -> [String] { Array(variables.keys) }
}
