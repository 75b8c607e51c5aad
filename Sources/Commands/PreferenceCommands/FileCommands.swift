internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import PreferencesCore
internal import PrephirencesCommandLine
internal import PrephirencesSystem
internal import SystemPackage

/// Writes the preferences of a domain to a file.
struct ExportCommand: PreferenceSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write the preferences of a domain to a file",
    discussion: """
      The name of the file chooses the format: JSON if it ends in .json, otherwise a property \
      list. Both keep dates and data. In JSON, types that it does not have are objects such as \
      {"$date": "2027-01-31T12:00:00Z"}, so every type is kept; property lists have one type for \
      numbers with a fraction, and whole seconds. What is rounded is named on standard error; \
      --exact adds keys with the fractions, which only 'import' and Prephirences know. The file is \
      readable by you alone. Without a file, or with -, standard output is written.

      Example:
        \(preferencesPath) export settings.json\(domainExample)
        \(preferencesPath) export\(domainExample) | ssh server \(preferencesPath) import \
      -\(domainExample)
      """)

  @Argument(help: "The file to create, or - for standard output", completion: .file())
  var file = "-"

  @OptionGroup var format: FileFormatOptions

  @Flag(help: "In a property list, add keys with the fractions of dates")
  var exact = false

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
    let data = try format.data(of: values, exact: exact)
    // Written as a file, a link to the stream itself would be replaced, which root can do.
    if file != "-", DescriptorPath.number(file) != session.console.output.descriptor {
      try write(data)
      session.interface.say(
        "exported \(Words.counted(values.count, "preference")) of '\(domain.name)' to '\(file)'")
    } else if session.console.output.isTerminal {
      try session.output.write(file: data)
    } else {
      try session.output.write(data)
    }
    let rounded = format.roundedKeys(values, exact: exact)
    if !rounded.isEmpty {
      session.interface.say(
        "rounded down to seconds: \(Words.names(rounded)); --exact or --json keeps the fractions")
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
        try PrivateFile.replace(file) { descriptor throws(Errno) in
          try DescriptorIO.write(bytes, to: descriptor)
        }
      } else {
        try PrivateFile.create(file) { descriptor throws(Errno) in
          try DescriptorIO.write(bytes, to: descriptor)
        }
      }
    } catch {
      throw error.kind == .alreadyExists ? CommandLineError.fileExists(file) : .file(error)
    }
  }
}

extension CommandLineError {
  fileprivate static func file(_ error: FileError) -> Self {
    let code =
      switch error.kind {
      case .unsynced: ExitCodes.outcomeUnknown
      case .insecure(.mediumWithoutModes): ExitCodes.refused
      default: ExitCodes.inputOutput
      }
    return Self(code, error.message, hint: error.advice)
  }
}

/// Sets the preferences that a file has.
struct ImportCommand: RehearsableSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Set the preferences that a file has",
    discussion: """
      The file is JSON or a property list, in XML or binary, such as one of UserDefaults or one \
      that 'export' has written. All of its preferences are set, or none; a shared store gets them \
      in pieces, and may have some of them if that fails. Others stay, unless --replace deletes \
      them. A null in JSON is not a value; it is left out and reported.

      --dry-run changes nothing. It prints a line with '-' for each value that would go, and one \
      with '+' for each that would come: sign, key, type and value.

      Example:
        \(preferencesPath) import settings.json\(domainExample)
        \(preferencesPath) import ~/.config/web.plist --replace\(domainExample)
      """)

  @Argument(help: "The file, or - for standard input", completion: .file())
  var file: String

  @OptionGroup var format: FileFormatOptions

  @Flag(help: "Delete the preferences that the file doesn't have")
  var replace = false

  @OptionGroup var rehearsal: DryRunOptions

  @Flag(help: "Don't wait for the disk; a power failure may lose the values")
  var noSync = false

  @Option(help: InputFile.deadlineHelp, transform: DurationText.argument)
  var deadline: Duration?

  @OptionGroup(title: "Common options") var options: DomainOptions

  func validate() throws { try options.require(file) }

  func perform(in session: PreferenceSession) throws {
    if file == "-" { session.interface.sayWaiting(for: "the preferences") }
    let (values, omitted) = try read(session.console.input)
    let domain = try session.domain
    if let omitted { session.interface.say("left out null: \(omitted)") }
    if replace, try domain.exists(), try domain.store.isWithoutFile() { _ = try domain.keys() }
    var plan: ImportPlan?
    try domain.change(.inPieces) { domain in
      let old = try domain.contents()
      // Unknown values cannot be deleted, and would come back.
      if replace, let failure = old.otherKeysFailure { throw failure }
      let made = ImportPlan(values, old, replaces: replace)
      for key in made.removed { try domain.set(nil, forKey: key) }
      if replace { try domain.store.removeDamagedKeys() }
      for (key, value) in made.added + made.changed { try domain.set(value, forKey: key) }
      plan = made
    }
    try session.finish(domain, waits: !noSync)
    if let plan { session.interface.say(report(plan, domain)) }
  }

  private func read(
    _ input: StandardStream
  ) throws -> (values: [ImportPlan.Entry], omitted: String?) {
    let data = try InputFile.read(file, input, within: deadline)
    let format = format.chosen ?? FileFormat(of: data)
    do throws(PreferencesError) {
      return try format.values(of: data)
    } catch {
      throw CommandLineError.malformed(
        file == "-" ? "standard input" : "'\(file)'", error.message, hint: format.advice(on: data))
    }
  }

  private func report(_ plan: ImportPlan, _ domain: PreferenceDomain) -> String {
    let count = plan.added.count + plan.changed.count + plan.unchangedCount
    let removed = plan.removed.isEmpty ? "" : ", \(plan.removed.count) deleted"
    return
      "\(rehearsal.dryRun ? "would import" : "imported") \(Words.counted(count, "preference")) "
      + "into '\(domain.name)': \(plan.added.count) new, \(plan.changed.count) changed, "
      + "\(plan.unchangedCount) the same\(removed)"
  }
}

struct ImportPlan {
  /// A key with its value; keys are compared by their bytes, as in the store.
  typealias Entry = (key: String, value: PreferenceValue)

  /// The values of new keys.
  let added: [Entry]

  /// The values of keys with another value.
  let changed: [Entry]

  /// The keys that are deleted.
  let removed: [String]
  let unchangedCount: Int

  /// Compares the values of a file with those of a domain.
  init(_ new: [Entry], _ old: DomainContents, replaces: Bool) {
    let existing = Dictionary(
      old.values.map { (Array($0.key.utf8), Optional($0.value)) }
        + old.unreadable.map { (Array($0.key.utf8), nil) }
    ) { first, _ in first }
    added = new.filter { existing[Array($0.key.utf8)] == nil }
    changed = new.filter { entry in
      existing[Array(entry.key.utf8)].map { $0 != entry.value } ?? false
    }
    let kept = Set(new.map { Array($0.key.utf8) })
    let keys = old.values.map(\.key) + old.unreadable.map(\.key)
    removed = replaces ? keys.filter { !kept.contains(Array($0.utf8)) } : []
    unchangedCount = new.count - added.count - changed.count
  }
}

/// Input from a pipe or a file.
enum InputFile {
  static let deadlineHelp: ArgumentHelp = .init(
    "How long the input may take to end: 500ms, 30s, 2m", valueName: "time")

  /// A longer input is a mistake.
  static let limit = 64 << 20

  /// Reads a file, or standard input if the path is `-`.
  static func read(
    _ path: String, _ input: StandardStream, within timeout: Duration?
  ) throws(CommandLineError) -> Data {
    // A century counts as no limit.
    let deadline = Deadline(after: timeout ?? .seconds(3_000_000_000))
    guard path == "-" else { return try read(file: path, deadline) }
    guard !input.wasClosed else { throw .inputClosed(nil) }
    return try read(input.descriptor, "standard input", deadline)
  }

  private static func read(
    file path: String, _ deadline: Deadline
  ) throws(CommandLineError) -> Data {
    // A named pipe is opened without waiting for its writer, which is awaited below.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard descriptor >= 0 else {
      let code = errno
      guard code == ENOENT else { throw .cannotOpen(path, errno: code) }
      throw CommandLineError(ExitCodes.notFound, "there is no file '\(path)'")
    }
    defer { close(descriptor) }
    var status = stat()
    if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFIFO {
      // Before there is a writer, reading would end at once.
      try awaitInput(descriptor, "'\(path)'", deadline)
    }
    guard fcntl(descriptor, F_SETFL, 0) == 0 else { throw .cannotOpen(path, errno: errno) }
    return try read(descriptor, "'\(path)'", deadline)
  }

  private static func awaitInput(
    _ descriptor: Int32, _ name: String, _ deadline: Deadline
  ) throws(CommandLineError) {
    guard deadline.awaitInput(descriptor) else {
      throw CommandLineError(
        ExitCodes.tryAgain, "\(name) did not end in time",
        hint: "end what writes it, or wait longer with --deadline")
    }
  }

  private static func read(
    _ descriptor: Int32, _ name: String, _ deadline: Deadline
  ) throws(CommandLineError) -> Data {
    var data = Data()
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      try awaitInput(descriptor, name, deadline)
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0 {
        guard errno != EINTR else { continue }
        throw .cannotRead(name, errno: errno)
      }
      guard count > 0 else { return data }
      data.append(contentsOf: buffer.prefix(count))
      guard data.count <= limit else {
        throw CommandLineError(ExitCodes.refused, "\(name) has more than 64 MiB")
      }
    }
  }
}

extension Data {
  /// The bytes as text, or `nil` if they are not UTF-8.
  var utf8Text: String? { String(validating: self, as: UTF8.self) }
}
