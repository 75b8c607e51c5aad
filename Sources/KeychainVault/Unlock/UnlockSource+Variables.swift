extension UnlockSource {
  /// The environment variables that unlock a vault, or name a file that does.
  package static var environmentVariables: [String] { AmbientSource.variables.map(\.name) }
}
