internal import ArgumentParser

/// What an import reads.
enum ImportFormat: String, ExpressibleByArgument, CaseIterable {
  /// An export of this package.
  case keychain

  /// The passwords of servers that curl, SwiftPM and others read.
  case netrc
}
