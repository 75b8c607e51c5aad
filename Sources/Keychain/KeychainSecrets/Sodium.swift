internal import CLibsodium

/// The one place that initialises libsodium.
enum Sodium {
  // A global `let` is initialised once, thread-safely. No function of libsodium may be called
  // before: `sodium_malloc` before `sodium_init` aborts the process.
  private static let isReady = sodium_init() >= 0

  static func start() throws(SecretsError) {
    guard isReady else { throw SecretsError(.libraryUnavailable) }
  }

  /// Overwrites the stack below the caller, where C code may have left copies of secrets.
  static func clearStack() {
    sodium_stackzero(8192)
  }
}
