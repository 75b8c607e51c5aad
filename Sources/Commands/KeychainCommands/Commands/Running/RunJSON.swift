internal import KeychainCredentials
internal import KeychainHelpers

/// What `run --dry-run --json` prints.
struct RunJSON: Encodable {
  struct Variable: Encodable {
    let name: String

    /// Absent for plain text.
    let reference: String?

    /// `option`, `file` or `inherited`.
    let source: String
  }

  struct File: Encodable {
    let name: String
    let reference: String
  }

  let variables: [Variable]
  let files: [File]
  let netrc: [String]

  init(_ request: RunRequest) {
    variables = request.variables.map { variable in
      var reference: String?
      if case .reference(let named) = variable.value { reference = named.description }
      return Variable(name: variable.name, reference: reference, source: variable.source.rawValue)
    }
    files = request.files.map { File(name: $0.name, reference: $0.reference.description) }
    netrc = request.netrc.map(\.description)
  }
}
