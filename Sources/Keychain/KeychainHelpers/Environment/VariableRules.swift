internal import KeychainCredentials
internal import KeychainVault
internal import PrephirencesSystem

/// Which names variables of an environment may have, and which of them are special.
enum VariableRules {
  /// What unlocks the user's stores, which no program gets that is started.
  ///
  /// `CREDENTIALS_DIRECTORY` is not among them: it also leads to other credentials of a service.
  static var unlocking: [String] { UnlockSource.environmentVariables }

  /// Whether a variable unlocks the user's stores.
  static func unlocks(_ name: some Collection<UInt8>) -> Bool {
    unlocking.contains { $0.utf8.elementsEqual(name) }
  }

  /// Whether the system accepts a name: it is not empty, and has neither an equals sign nor NUL.
  static func isValid(_ name: String) -> Bool {
    !name.isEmpty && !name.utf8.contains { $0 == UInt8(ascii: "=") || $0 == 0 }
  }

  /// Whether a file may not set a variable.
  ///
  /// These let whoever writes the file choose what is executed in place of any command, or where
  /// secrets come from. Variables that only one interpreter reads are not among them.
  static func isClosedToFiles(_ name: String) -> Bool {
    ["LD_", "KEYCHAIN_"].contains { name.utf8.starts(with: $0.utf8) }
      || [
        "PATH", "BASH_ENV", "GCONV_PATH", "GLIBC_TUNABLES", "CREDENTIALS_DIRECTORY",
        "DBUS_SESSION_BUS_ADDRESS",
      ].contains { $0.hasSameBytes(as: name) }
  }

  /// Whether a clean environment has a variable: where programs and the user's files are, the
  /// terminal, the language, the time zone, and where the user's stores are.
  static func isUsual(_ name: some Collection<UInt8>) -> Bool {
    name.starts(with: "LC_".utf8)
      || (usual + places).contains { $0.utf8.elementsEqual(name) }
  }

  private static let usual = [
    "COLORTERM", "HOME", "LANG", "LANGUAGE", "LOGNAME", "NO_COLOR", "PATH", "PWD", "SHELL", "TERM",
    "TMPDIR", "TZ", "USER", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
  ]

  /// Where the stores are and how they are read.
  ///
  /// A program may call a credential helper, which has to find what this process found. The values
  /// name places, and are no secrets.
  private static let places = [
    "CREDENTIALS_DIRECTORY", "DBUS_SESSION_BUS_ADDRESS", "GIT_TERMINAL_PROMPT",
    "KEYCHAIN_ALLOW_READ", "KEYCHAIN_NO_PROMPT", "KEYCHAIN_QUIET", "KEYCHAIN_STORE",
    "KEYCHAIN_TRUSTED_FOLDERS",
    "KEYCHAIN_VAULT", "STATE_DIRECTORY",
  ]
}

extension String {
  /// Whether every shell and program accepts the text as the name of a variable: ASCII letters,
  /// digits and `_`, no digit first.
  package var isVariableName: Bool {
    guard let first = utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
    else { return false }
    return utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
  }
}
