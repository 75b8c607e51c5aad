internal import Glibc

/// The environment variables about the session.
///
/// A copy of the whole environment would copy a passphrase in it to ordinary memory.
enum SessionEnvironment {
  private static let names = [
    "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "KEYCHAIN_NO_PROMPT", "SSH_TTY", "WAYLAND_DISPLAY",
    "XDG_RUNTIME_DIR", "XDG_STATE_HOME",
  ]

  /// Returns the variables of the process.
  static func ofProcess() -> [String: String] {
    names.reduce(into: [:]) { values, name in
      values[name] = unsafe getenv(name).flatMap { unsafe String(validatingCString: $0) }
    }
  }
}
