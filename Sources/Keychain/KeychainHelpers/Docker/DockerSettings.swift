package import KeychainCredentials
package import KeychainSecrets

/// What docker's `config.json` says about helpers.
package struct DockerSettings: Sendable {
  /// The names of the helpers.
  package let helpers: [String]

  /// Reads the file as strictly as docker does; it may have passwords, too.
  ///
  /// - Parameter json: The contents of the file.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/invalidArgument`` if it is no JSON, or not
  ///   docker's.
  package init(json: borrowing SecretBytes) throws(KeychainError) {
    var helpers: [String] = []
    try json.withBytes { bytes throws(KeychainError) in
      var scanner = JSONScanner()
      try scanner.readObject(in: bytes) { scanner, name throws(KeychainError) in
        if name.isText("credsStore") {
          if let helper = try scanner.readIfString(in: bytes)?.text() { helpers.append(helper) }
        } else if name.isText("credHelpers") {
          try scanner.object(in: bytes) { scanner, _ throws(KeychainError) in
            if let helper = try scanner.readIfString(in: bytes)?.text() { helpers.append(helper) }
          }
        } else {
          try scanner.skipValue(in: bytes)
        }
      }
    }
    self.helpers = helpers
  }
}
