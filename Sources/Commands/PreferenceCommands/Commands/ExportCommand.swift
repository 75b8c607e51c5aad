internal import ArgumentParser
internal import FoundationEssentials
internal import PrephirencesCommandLine
internal import PrephirencesSystem
internal import SystemPackage

/// Writes the preferences of a domain to a file.
struct ExportCommand: PreferenceSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write the preferences of a domain to a file",
    discussion: """
      The name of the file chooses the format: JSON if it ends in .json, otherwise a property list. \
      Both keep dates and data. In JSON, types that it lacks are objects such as \
      {"$date": "2027-01-31T12:00:00Z"}, so every type is kept; property lists have one type for \
      numbers with a fraction. The file is readable by you alone. Without a file, or with -, standard \
      output is written.

      Example:
        \(preferencesPath) export settings.json\(domainExample)
        \(preferencesPath) export\(domainExample) | ssh server \(preferencesPath) import -\(domainExample)
      """)

  @Argument(help: "The file to create, or - for standard output", completion: .file())
  var file = "-"

  @OptionGroup var format: FileFormatOptions

  @Flag(help: "Replace the file if it exists")
  var overwrite = false

  @OptionGroup(title: "Common options") var options: DomainOptions

  func validate() throws {
    try options.require(file)
    guard !overwrite || file != "-" else {
      throw ValidationError(PreferenceUsageText.overwriteFile)
    }
  }

  func perform(in session: PreferenceSession) throws {
    let domain = try session.existingDomain()
    let contents = try domain.contents()
    let values = contents.values
    let format = format.chosen ?? (file.lowercased().hasSuffix(".json") ? .json : .propertyList)
    let data = try format.data(of: values)
    if file != "-" {
      try write(data)
      session.interface.say(
        "exported \(Words.counted(values.count, "preference")) of '\(domain.name)' to '\(file)'")
    } else if StandardOutput.isTerminal {
      try ValueOutput.write(file: data)
    } else {
      try ValueOutput.write(data)
    }
    try session.require(contents)
  }

  private func write(_ data: Data) throws {
    do throws(FileError) {
      let bytes = [UInt8](data)
      if overwrite {
        if let type = try PrivateFile.look(file)?.type, type != .regular, type != .symbolicLink {
          throw FileError(.insecure(.notRegular), file)
        }
        try PrivateFile.replace(file, openTo: PrivateFile.everybody) { descriptor throws(Errno) in
          try DescriptorIO.write(bytes, to: descriptor)
        }
      } else {
        try PrivateFile.create(file, openTo: PrivateFile.everybody) { descriptor throws(Errno) in
          try DescriptorIO.write(bytes, to: descriptor)
        }
      }
    } catch {
      throw error.kind == .alreadyExists ? CommandLineError.fileExists(file) : .file(error)
    }
  }
}

extension CommandLineError {
  /// The failure of a file that was to be written.
  fileprivate static func file(_ error: FileError) -> Self {
    let code =
      if case .unsynced = error.kind { ExitCodes.outcomeUnknown } else { ExitCodes.inputOutput }
    return Self(code, error.message, hint: error.advice)
  }
}
