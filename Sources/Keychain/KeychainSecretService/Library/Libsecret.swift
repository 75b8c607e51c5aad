internal import CPrephirencesLibsecret
internal import KeychainCredentials

/// libsecret and GLib, loaded on first use.
@safe
final class Libsecret: @unchecked Sendable {
  // @unchecked Sendable because the table is filled once and never changed.
  let functions: clibsecret

  /// The same table for C, for the life of the process: libraries are never unloaded.
  let table: UnsafePointer<clibsecret>

  /// The name of the library, unchanged since its first release.
  static let name = "libsecret-1.so.0"

  private static let loaded = Result { () throws(KeychainError) in try Libsecret(name) }

  static func shared() throws(KeychainError) -> Libsecret { try loaded.get() }

  init(_ name: String) throws(KeychainError) {
    var functions = clibsecret()
    // The missing symbol can be `name` itself, which C has only during the call.
    let missing = unsafe name.withCString { name in
      unsafe clibsecret_load(&functions, name).map { unsafe String(cString: $0) }
    }
    if let missing {
      throw KeychainError(
        .noStore,
        missing == name
          ? "the desktop keyring needs libsecret, which is not installed (\(name))"
          : "the desktop keyring needs a newer libsecret: \(name) has no \(missing)",
        recovery: "install it (the package libsecret-1-0, or libsecret), or use the vault")
    }
    self.functions = functions
    let table = UnsafeMutablePointer<clibsecret>.allocate(capacity: 1)
    unsafe table.initialize(to: functions)
    unsafe self.table = unsafe UnsafePointer(table)
  }
}
