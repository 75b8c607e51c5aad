internal import CLibcurl

/// libcurl, loaded on first use.
@safe
final class Libcurl: @unchecked Sendable {
  // @unchecked Sendable because the table is filled once and never changed.

  /// For the life of the process: libraries are never unloaded.
  let table: UnsafePointer<clibcurl>

  var functions: clibcurl { unsafe table.pointee }

  /// The names of the library, built with OpenSSL or with GnuTLS.
  static let names = ["libcurl.so.4", "libcurl-gnutls.so.4"]

  private static let loaded = Result { () throws(EtcdError) in
    ExitGate.register()
    let library = try Libcurl(names)
    ExitGate.register()
    return library
  }

  /// Returns the machine's library; call it behind the ``ExitGate``.
  ///
  /// - Throws: ``EtcdError`` with ``EtcdError/Code/noLibrary`` if there is none, or it is too old.
  static func shared() throws(EtcdError) -> Libcurl { try loaded.get() }

  /// Loads the first library that there is.
  init(_ names: [String]) throws(EtcdError) {
    var problem = "no library is named"
    for name in names {
      var functions = clibcurl()
      if let missing = unsafe clibcurl_load(&functions, name) {
        let missing = unsafe String(cString: missing)
        problem =
          missing == name
          ? "libcurl is not installed (\(name))"
          : "libcurl is older than 7.68: \(name) has no \(missing)"
        continue
      }
      guard functions.curl_global_init(Int(CLIBCURL_GLOBAL_DEFAULT)) == CLIBCURL_OK else {
        problem = "libcurl cannot be initialized"
        continue
      }
      let table = UnsafeMutablePointer<clibcurl>.allocate(capacity: 1)
      unsafe table.initialize(to: functions)
      unsafe self.table = unsafe UnsafePointer(table)
      return
    }
    throw EtcdError(
      .noLibrary,
      "etcd is reached through libcurl, and \(problem); "
        + "install it (the package libcurl4, libcurl4t64 or libcurl)")
  }

  /// What the library says of a result.
  func words(of result: UInt32) -> String {
    guard let words = functions.curl_easy_strerror(result) else { return "\(result)" }
    return unsafe String(cString: words)
  }
}
