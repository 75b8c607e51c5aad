import Configuration
import ConfigurationKeychain
import ConfigurationPreferences
import Foundation

@main
struct WebService {
  static func main() async throws {
    let environment = EnvironmentVariablesProvider().prefixKeys(with: "webservice")
    let path = ConfigReader(provider: environment).string(
      forKey: "file", default: "/etc/webservice.json")
    let changed = DurablePreferences(suiteName: "webservice")
    let config = ConfigReader(providers: [
      CommandLineArgumentsProvider(),  // --log-level debug
      environment,  // WEBSERVICE_LOG_LEVEL=debug
      PreferencesProvider(changed),  // what was set at run time
      try await FileProvider<JSONSnapshot>(filePath: .init(path), allowMissing: true)
        .resolvingKeychainReferences(
          keys: ["database.password"], services: ["com.example.webservice"]),
      InMemoryProvider(values: ["host": "localhost", "port": 8080, "log.level": "info"]),
    ])

    let port = try config.requiredInt(forKey: "port")
    guard let password = try await config.fetchString(forKey: "database.password", isSecret: true)
    else {
      log("no password: write a reference to it into \(path)")
      exit(1)
    }
    log("listening on port \(port), with a password of \(password.count) characters")
    changed.set(Date.now, forKey: "started")  // kept for the next start

    // Called for changes by this process or another one.
    try await config.watchSnapshot { snapshots in
      for await now in snapshots {
        let host = try now.requiredString(forKey: "host")
        log("host is \(host), log level is \(try now.requiredString(forKey: "log.level"))")
      }
    }
  }

  static func log(_ text: String) {
    FileHandle.standardError.write(Data("webservice: \(text)\n".utf8))
  }
}
