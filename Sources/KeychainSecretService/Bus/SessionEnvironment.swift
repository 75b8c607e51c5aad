internal import Glibc

/// The environment variables that tell of the session, and no others.
///
/// A copy of the whole environment would put a passphrase that is in it into ordinary memory.
enum SessionEnvironment {
  private static let names = [
    "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "KEYCHAIN_NO_PROMPT", "SSH_TTY", "WAYLAND_DISPLAY",
    "XDG_RUNTIME_DIR", "XDG_STATE_HOME",
  ]

  /// Those of the process, by their names.
  static func ofProcess() -> [String: String] {
    names.reduce(into: [:]) { values, name in
      values[name] = unsafe getenv(name).flatMap { unsafe String(validatingCString: $0) }
    }
  }
}
