internal import CPrephirencesLibsodium

/// The C library behind secrets and keys.
package enum SecretsLibrary {
  /// Its version, such as `1.0.18`.
  package static var version: String { unsafe String(cString: sodium_version_string()) }
}
