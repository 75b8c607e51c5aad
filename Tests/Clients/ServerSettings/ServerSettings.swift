import Foundation
import Keychain
import PrephirencesDurable

/// The settings of the service: the first place that has a key answers.
struct Settings {
  let all: MutableCompositePreferences
  let file: Plist

  init() throws {
    let arguments = ArgumentPreferences(flags: ["verbose"])  // --log-level debug
    let environment = EnvironmentPreferences(prefix: "WEBSERVICE_")  // WEBSERVICE_LOG_LEVEL=debug
    let changed = DurablePreferences(suiteName: "webservice")  // what was set at run time
    file = try Plist(openingFile: environment.string(forKey: "file") ?? "/etc/webservice.plist")
    let defaults = DictionaryPreferences(["host": "localhost", "port": 8080, "logLevel": "info"])
    let secrets = KeychainPreferences(service: "com.example.webservice")
    try changed.open()
    all = [arguments, environment, changed, file, defaults, secrets]
  }

  var port: Int { all.integer(forKey: "port") }

  /// The password of the database; a locked keychain is an error, and not an absent password.
  func databasePassword() throws -> String? {
    try all.fetchObject(forKey: "databasePassword") as? String
  }
}

@main
struct WebService {
  static func main() async throws {
    let settings = try Settings()
    guard let password = try settings.databasePassword() else {
      log("no password: run 'prefs keychain set databasePassword --service com.example.webservice'")
      exit(1)
    }
    log("listening on port \(settings.port), with a password of \(password.count) characters")
    settings.all.set(Date.now, forKey: "started")  // kept for the next start

    // `systemctl reload` reads the file again.
    let reload = DispatchSource.makeSignalSource(signal: SIGHUP)
    signal(SIGHUP, SIG_IGN)
    reload.setEventHandler { [file = settings.file] in file.read() }
    reload.resume()

    // Called for changes by this process, another one, or an edited file.
    for await change in settings.all.changes(forKeys: ["host", "logLevel"], initial: true) {
      log("\(change.key) is \(change.newValue ?? "not set")")
    }
  }

  static func log(_ text: String) {
    FileHandle.standardError.write(Data("webservice: \(text)\n".utf8))
  }
}
