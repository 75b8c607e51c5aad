internal import Foundation
internal import KeychainCredentials
internal import KeychainHelpers
internal import KeychainSecrets
internal import PrephirencesCommandLine

/// Where clients are told to use a host's helpers; nothing is changed.
struct ClientConfiguration {
  /// A place that names a helper.
  struct Place {
    /// The path of a file, or git's name of a setting.
    let name: String

    /// Whether the client runs the link that it finds in `PATH`.
    var runsLink = true

    /// What keeps the client from using the helper there; `nil` if nothing is known.
    var fault: Fault?
  }

  /// What is wrong with a place that names a helper.
  enum Fault {
    /// The program that it names is not there, or cannot be run.
    case missingProgram(String)

    /// The program that it names is another one.
    case otherProgram(String)

    /// The file is no JSON of its client, which reads nothing of it.
    case notJSON
  }

  let host: InstalledHost

  /// Returns the places that name a helper.
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
        git, ["config", "--null", "--get-regexp", "^credential\\..*helper$"], within: .seconds(5))
    else { return [] }
    var places: [Place] = []
    for entry in run.output.split(separator: "\0") {
      let parts = entry.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0])
      let setting = GitHelperSetting(parts.count == 2 ? String(parts[1]) : "")
      // An empty value makes git forget those before it.
      if setting.isEmpty { places.removeAll { name == "credential.helper" || $0.name == name } }
      if let place = setting.place(name, naming: host) { places.append(place) }
    }
    return places
  }

  // MARK: - docker and its relatives

  private var dockerFiles: [String] {
    [Environment.value("DOCKER_CONFIG") ?? inHome(".docker")].compactMap { $0 }
      .map { $0 + "/config.json" }
  }

  private var containerFiles: [String] {
    [
      Environment.value("REGISTRY_AUTH_FILE"),
      Environment.value("XDG_RUNTIME_DIR").map { $0 + "/containers/auth.json" },
      (Environment.value("XDG_CONFIG_HOME") ?? inHome(".config")).map {
        $0 + "/containers/auth.json"
      },
    ].compactMap { $0 }
  }

  private var registryFiles: [String] {
    // This file is looked for in the home folder, whatever XDG_CONFIG_HOME says; the machine's is
    // read only if there is none.
    let usual = [inHome(".config/containers/registries.conf"), "/etc/containers/registries.conf"]
    let files = Environment.value("CONTAINERS_REGISTRIES_CONF").map { [$0] } ?? usual
    guard let path = files.compactMap(\.self).first(where: { text($0) != nil }) else { return [] }
    return RegistriesFile(text(path) ?? "").helpers.contains(host.name) ? [path] : []
  }

  private func inHome(_ name: String) -> String? {
    Environment.value("HOME").map { $0 + "/" + name }
  }

  private func placeInJSON(_ path: String) -> Place? {
    // Clients accept an empty file.
    guard let text = text(path), text.contains(where: { !$0.isWhitespace }) else { return nil }
    do throws(KeychainError) {
      let settings = try DockerSettings(json: translated(secrets: SecretBytes(copying: text)))
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
