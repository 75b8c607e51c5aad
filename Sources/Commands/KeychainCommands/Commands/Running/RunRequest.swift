internal import KeychainCredentials
internal import KeychainHelpers
internal import PrephirencesSystem

/// What `run` was asked for, read and checked before any store is opened.
struct RunRequest {
  /// The name of the file that `--netrc` makes, and the variable with its path.
  static let netrc = (file: "netrc", variable: "NETRC")

  let plan: EnvironmentPlan
  let files: [ReferenceAssignment]
  let netrc: [NetrcSelection]

  init(_ command: RunCommand, defaultService: String) throws(KeychainError) {
    let allowance = ReferenceAllowance(services: command.allow, defaultService: defaultService)
    var plan = EnvironmentPlan(inheriting: command.clean ? .usual : .all)
    for text in command.env {
      let assignment = try ReferenceAssignment(text, option: "--env")
      try plan.set(assignment.name, to: assignment.reference)
    }
    var environmentFiles: [EnvironmentFile] = []
    for path in command.envFile {
      environmentFiles.append(try EnvironmentFile(path: path, timeout: command.common.deadline))
    }
    // Of two files, the later one counts; a plan keeps what was added first.
    for file in environmentFiles.reversed() { try plan.add(file, allowing: allowance) }
    if command.fromEnvironment { try plan.addInherited(allowing: allowance) }
    var files: [ReferenceAssignment] = []
    for text in command.file {
      files.append(try ReferenceAssignment(text, option: "--file"))
    }
    var netrc: [NetrcSelection] = []
    for text in command.netrc { netrc.append(try NetrcSelection(text)) }
    self.plan = plan
    self.files = files
    self.netrc = netrc
    try checkNames()
  }

  /// The names of the variables that have paths of files.
  var pathVariables: [String] {
    files.map(\.name) + (netrc.isEmpty ? [] : [Self.netrc.variable])
  }

  /// The variables that have no paths of files; a path counts before a line of a file of variables.
  var variables: [EnvironmentPlan.Variable] {
    plan.variables.filter { variable in
      !pathVariables.contains { $0.hasSameBytes(as: variable.name) }
    }
  }

  /// Checks that no file is named twice, nor like a variable of the command line.
  private func checkNames() throws(KeychainError) {
    let fromOptions = plan.variables.filter { $0.source == .option }.map(\.name)
    for file in files where !file.name.isVariableName { throw .invalidFileName(file.name) }
    let names = fromOptions + pathVariables + (netrc.isEmpty ? [] : [Self.netrc.file])
    for (index, name) in names.enumerated() {
      let isRepeated = names[..<index].contains { $0.hasSameBytes(as: name) }
      guard !isRepeated else { throw .fileTwice(name) }
    }
  }
}
