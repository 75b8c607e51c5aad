import Configuration
import ConfigurationKeychain
import ConfigurationPreferences
import Foundation
import Hummingbird
import Logging
import ServiceLifecycle

struct Settings: Sendable {
  let config: ConfigReader

  /// Opens the places of the settings: the first one that has a key answers.
  static func open() async throws -> Settings {
    let changed = DurablePreferences(suiteName: "webservice")
    let secrets = try await KeychainProvider(
      service: "com.example.webservice", keys: ["database.password"])
    let defaults = InMemoryProvider(values: [
      "http.host": "127.0.0.1", "http.port": 8080, "greeting": "Hello",
    ])
    let config = ConfigReader(providers: [
      CommandLineArgumentsProvider(),  // --http-port 9091
      EnvironmentVariablesProvider(),  // HTTP_PORT=9091
      PreferencesProvider(changed),  // prefs write --domain webservice http.port 9091
      secrets,
      defaults,
    ])
    return Settings(config: config)
  }

  /// Returns the password of the database.
  ///
  /// `string(forKey:)` would be `nil` for a locked keychain, too; `fetchString(forKey:)` throws then.
  func password() async throws -> String {
    guard let password = try await config.fetchString(forKey: "database.password", isSecret: true)
    else { throw MissingPassword() }
    return password
  }
}

struct MissingPassword: Error, CustomStringConvertible {
  let description =
    "no password: store one with 'prefs keychain set database.password "
    + "--service com.example.webservice --store vault'"
}

/// Stands for the connections of a database client.
actor Database {
  private var password: String
  private(set) var logins = 1

  init(password: String) { self.password = password }

  func use(_ new: String) {
    guard new != password else { return }
    password = new
    logins += 1
  }
}

/// Gives the database each new password.
struct PasswordService: Service {
  let settings: Settings
  let database: Database
  let logger: Logger

  func run() async throws {
    let config = settings.config
    try await cancelWhenGracefulShutdown {
      try await config.watchString(forKey: "database.password", isSecret: true) { changes in
        // `nil` may be a failure: a change only says when to read the password again.
        for await _ in changes {
          do {
            await database.use(try await settings.password())
          } catch {
            logger.error("The old password stays in use: \(error)")
          }
        }
      }
    }
  }
}

@main
struct ConfiguredServer {
  static func main() async {
    let logger = Logger(label: "webservice")
    do {
      try await serve(logger)
    } catch {
      logger.critical("\(error)")
      exit(1)
    }
  }

  static func serve(_ logger: Logger) async throws {
    let settings = try await Settings.open()
    let config = settings.config
    let host = try config.requiredString(forKey: "http.host")
    let port = try config.requiredInt(forKey: "http.port")
    let database = Database(password: try await settings.password())

    let router = Router()
    // Read for each request, so a change needs no restart.
    router.get("/") { _, _ in try config.requiredString(forKey: "greeting") }
    router.get("/health") { _, _ in "logins: \(await database.logins)" }

    let application = Application(
      router: router,
      configuration: .init(address: .hostname(host, port: port)),
      services: [PasswordService(settings: settings, database: database, logger: logger)],
      logger: logger)
    // In a service group, which ends the services in order after SIGTERM and SIGINT.
    try await application.runService()
  }
}
