import Configuration
import ConfigurationPreferences
import Logging
import ServiceLifecycle
import ServiceLifecyclePreferences

/// Does something every so often, as the settings of the fleet say.
struct Worker: Service {
  let config: ConfigReader
  let logger: Logger

  func run() async throws {
    try await cancelWhenGracefulShutdown {
      try await config.watchInt(forKey: "interval", default: 60) { intervals in
        for await interval in intervals { logger.info("every \(interval) seconds") }
      }
    }
  }
}

@main
struct FleetServer {
  static func main() async throws {
    let logger = Logger(label: "fleet")
    let settings = SharedPreferences(suiteName: "com.example.fleet")
    let config = ConfigReader(provider: PreferencesProvider(settings))
    // Services end in the reverse order: the preferences are sent after the last one that sets them has ended.
    let group = ServiceGroup(
      services: [
        SharedPreferencesService(settings, logger: logger), Worker(config: config, logger: logger),
      ],
      gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    try await group.run()
  }
}
