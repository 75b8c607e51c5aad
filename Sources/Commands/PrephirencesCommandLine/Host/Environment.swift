internal import Glibc

/// The environment in which the process runs.
package enum Environment {
  /// Returns a variable of the environment; `nil` if it is not set or empty.
  package static func value(_ name: String) -> String? {
    guard let value = getenv(name), let text = String(validatingCString: value), !text.isEmpty
    else { return nil }
    return text
  }
}
