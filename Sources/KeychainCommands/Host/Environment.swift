internal import Glibc

/// The environment in which the process runs.
enum Environment {
  /// Returns a variable of the environment; `nil` if it is not set or empty.
  static func value(_ name: String) -> String? {
    guard let value = getenv(name), let text = String(validatingCString: value), !text.isEmpty
    else { return nil }
    return text
  }

  /// Whether the kernel lists its keys, with the remaining time of each.
  static var listsKernelKeys: Bool { unsafe access("/proc/keys", R_OK) == 0 }
}
