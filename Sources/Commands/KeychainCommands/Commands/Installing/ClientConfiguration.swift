internal import FoundationEssentials
internal import Glibc
internal import KeychainCredentials
internal import KeychainHelpers
internal import KeychainSecrets
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// Where clients are configured to use a host's helpers; nothing is changed.
struct ClientConfiguration {
  struct Place {
    /// The path of a file, or git's name of a setting.
    let name: String

    /// Whether the client runs the link that it finds in `PATH`.
    var runsLink = true

    /// What prevents the client from using the helper; `nil` if nothing is known.
    var fault: Fault?
  }

  /// What is wrong with a configured helper.
  enum Fault {
    /// The program does not exist, or cannot be run.
    case missingProgram(String)

    /// It is another program.
    case otherProgram(String)

    /// The file is not valid JSON, so the client ignores all of it.
    case notJSON
  }

  let host: InstalledHost

  func places(naming helper: HelperProgram) -> [Place] {
    switch helper {
    case .git: gitSettings
    case .docker:
      (dockerFiles + containerFiles).compactMap(placeInJSON)
        + registryFiles.map { Place(name: $0) }
    }
  }

  // MARK: - git

  private var gitSettings: [Place] {
    guard let git = host.search.program("git"),
      let run = ProgramRun(
        git, ["config", "--null", "--get-regexp", "^credential\\..*helper$"],
        in: host.environment, within: .seconds(5))
    else { return [] }
    var places: [Place] = []
    for entry in run.output.split(separator: "\0") {
      let parts = entry.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0])
      let setting = GitHelperSetting(parts.count == 2 ? String(parts[1]) : "")
      // An empty value makes git forget earlier ones.
      if setting.isEmpty { places.removeAll { name == "credential.helper" || $0.name == name } }
      if let place = setting.place(name, naming: host) { places.append(place) }
    }
    return places
  }

  // MARK: - docker and its relatives

  private var dockerFiles: [String] {
    [host.environment.text("DOCKER_CONFIG") ?? inHome(".docker")].compactMap { $0 }
      .map { $0 + "/config.json" }
  }

  private var containerFiles: [String] {
    [
      host.environment.text("REGISTRY_AUTH_FILE"),
      host.environment.text("XDG_RUNTIME_DIR").map { $0 + "/containers/auth.json" },
      (host.environment.text("XDG_CONFIG_HOME") ?? inHome(".config")).map {
        $0 + "/containers/auth.json"
      },
    ].compactMap { $0 }
  }

  private var registryFiles: [String] {
    // This file is in the home folder whatever XDG_CONFIG_HOME says. The machine's is read only if
    // there is none.
    let usual = [inHome(".config/containers/registries.conf"), "/etc/containers/registries.conf"]
    let files = host.environment.text("CONTAINERS_REGISTRIES_CONF").map { [$0] } ?? usual
    guard let path = files.compactMap(\.self).first(where: { text($0) != nil }) else { return [] }
    return RegistriesFile(text(path) ?? "").helpers.contains(host.name) ? [path] : []
  }

  private func inHome(_ name: String) -> String? {
    host.environment.text("HOME").map { $0 + "/" + name }
  }

  private func placeInJSON(_ path: String) -> Place? {
    // Clients accept an empty file.
    guard let text = text(path), text.contains(where: { !$0.isWhitespace }) else { return nil }
    do throws(KeychainError) {
      let settings = try DockerSettings(json: SecretBytes(copying: text))
      return settings.helpers.contains(host.name) ? Place(name: path) : nil
    } catch {
      guard error.code == .invalidArgument else { return nil }
      return Place(name: path, runsLink: false, fault: .notJSON)
    }
  }

  private func text(_ path: String) -> String? {
    FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
  }
}

/// A value of git's setting `credential.helper`.
struct GitHelperSetting {
  private let value: String

  init(_ value: String) { self.value = value }

  var isEmpty: Bool { value.isEmpty }

  /// Returns the setting as a place that names the host, or `nil` for another program.
  func place(_ name: String, naming host: InstalledHost) -> ClientConfiguration.Place? {
    let helper = HelperProgram.git
    let link = helper.linkName(of: host.name)
    let words = commandWords
    guard let program = words.first else { return nil }
    let lastPart = PathText.name(of: program)
    // A relative path depends on where git runs.
    let isRelative = program.contains("/") && !program.hasPrefix("/")
    let path = program.contains("/") ? program : host.search.program(program)
    let isOurs = !isRelative && path.flatMap { FileIdentity($0) } == host.identity
    let isCommand = words.dropFirst().contains(helper.command)
    guard lastPart == link || isCommand && (lastPart == host.name || isOurs) else { return nil }
    if program == link { return ClientConfiguration.Place(name: name) }
    let isFound = path.map { access($0, X_OK) == 0 } ?? false
    return ClientConfiguration.Place(
      name: name, runsLink: false,
      fault: isOurs && isFound || isRelative
        ? nil : isFound ? .otherProgram(path ?? program) : .missingProgram(program))
  }

  /// The words that git gives to a shell: all after `!`, an absolute path, or else the text after
  /// the common beginning of helper names.
  private var commandWords: [String] {
    if value.hasPrefix("!") {
      let words = Self.words(value.dropFirst())
      return Array(words.drop { $0.contains("=") })
    }
    return Self.words(value.hasPrefix("/") ? value[...] : "git-credential-\(value)")
  }

  /// Splits at spaces outside quotes, as a shell does in simple commands.
  private static func words(_ text: Substring) -> [String] {
    var words: [String] = []
    var word: String?
    var quote: Character?
    var isEscaped = false
    for character in text {
      if isEscaped {
        word = (word ?? "") + String(character)
        isEscaped = false
      } else if character == "\\", quote != "'" {
        isEscaped = true
      } else if character == quote {
        quote = nil
      } else if quote == nil, character == "'" || character == "\"" {
        quote = character
        word = word ?? ""
      } else if quote == nil, character.isWhitespace {
        if let word { words.append(word) }
        word = nil
      } else {
        word = (word ?? "") + String(character)
      }
    }
    return words + (word.map { [$0] } ?? [])
  }
}

/// What podman's `registries.conf` says about helpers.
///
/// Only the array `credential-helpers` before the first table is read. Escapes in its strings are
/// not resolved, because names of programs have none.
struct RegistriesFile {
  private enum Token: Equatable {
    case text(String)
    case mark(Character)
    case end
  }

  let helpers: [String]

  init(_ text: String) {
    var rest = text[...]
    helpers = Self.helpers(&rest)
  }

  private static func helpers(_ rest: inout Substring) -> [String] {
    while let first = token(&rest), first != .mark("[") {
      guard first != .end else { continue }
      let isSetting = first == .text("credential-helpers")
      var strings: [String] = []
      var depth = 0
      while let next = token(&rest), next != .end || depth > 0 {
        if next == .mark("[") { depth += 1 }
        if next == .mark("]") { depth -= 1 }
        if case .text(let string) = next { strings.append(string) }
      }
      if isSetting { return strings }
    }
    return []
  }

  private static func token(_ rest: inout Substring) -> Token? {
    rest = rest.drop { $0 == " " || $0 == "\t" }
    if rest.first == "#" { rest = rest.drop { !$0.isNewline } }
    guard let first = rest.first else { return nil }
    if first.isNewline { return take(1, &rest, .end) }
    if first == "\"" || first == "'" { return string(first, &rest) }
    if "[]=,{}".contains(first) { return take(1, &rest, .mark(first)) }
    let word = rest.prefix { !$0.isWhitespace && !"[]=,{}#\"'".contains($0) }
    return take(max(word.count, 1), &rest, .text(String(word)))
  }

  private static func string(_ quote: Character, _ rest: inout Substring) -> Token {
    let triple = String(repeating: quote, count: 3)
    let quotes = rest.hasPrefix(triple) ? triple : String(quote)
    rest = rest.dropFirst(quotes.count)
    var text = ""
    while !rest.isEmpty, !rest.hasPrefix(quotes) {
      if quote == "\"", rest.first == "\\" { text.append(rest.removeFirst()) }
      if !rest.isEmpty { text.append(rest.removeFirst()) }
    }
    return take(quotes.count, &rest, .text(text))
  }

  private static func take(_ count: Int, _ rest: inout Substring, _ token: Token) -> Token {
    rest = rest.dropFirst(count)
    return token
  }
}
