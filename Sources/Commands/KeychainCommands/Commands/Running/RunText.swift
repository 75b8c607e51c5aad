internal import KeychainCredentials
internal import KeychainHelpers
internal import PrephirencesCommandLine

/// What `run --dry-run` prints for people.
enum RunText {
  /// Returns that an inherited variable has a reference, and not a secret, for the command.
  static func unreadReference(_ name: String) -> String {
    "the inherited variable '\(name)' is a reference, which the command gets as it is; "
      + "--from-environment reads it"
  }

  static func table(of request: RunRequest) -> TextTable {
    let variables = request.variables.map { [$0.name, $0.value.words, $0.source.words] }
    let files = request.files.map { [$0.name, $0.reference.description, "a file in memory"] }
    let netrc = request.netrc.map {
      [RunRequest.netrc.variable, $0.description, "an entry of a netrc file in memory"]
    }
    return TextTable(header: ["NAME", "VALUE", "FROM"], rows: variables + files + netrc)
  }
}

extension EnvironmentPlan.Value {
  fileprivate var words: String {
    switch self {
    case .text: "(plain text)"
    case .reference(let reference): reference.description
    }
  }
}

extension EnvironmentPlan.Source {
  fileprivate var words: String {
    switch self {
    case .option: "--env"
    case .file: "--env-file"
    case .inherited: "the environment"
    }
  }
}
