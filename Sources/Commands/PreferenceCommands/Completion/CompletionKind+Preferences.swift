internal import ArgumentParser
internal import PrephirencesCommandLine

/// The names that the shell offers; nothing is created for them.
extension CompletionKind {
  /// The domains that have preferences.
  static var domains: Self { .names { _ in PreferenceDomain.names() } }

  /// The keys of the domain that the line names.
  static var keys: Self {
    .names { line in
      let named = line.value(of: "--domain", "-d")
      guard let name = named ?? PreferenceCommandContext.current.defaultDomain else { return [] }
      let domain = PreferenceDomain(named: name)
      return (try? domain.keys()) ?? []
    }
  }
}
