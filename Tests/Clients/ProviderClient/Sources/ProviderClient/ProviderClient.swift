import Configuration
import ConfigurationKeychain
import ConfigurationPreferences

/// Reads a setting, and a secret that is absent.
@main
struct ProviderClient {
  static func main() async throws {
    let vault = Vault(configuration: .init(path: "\(CommandLine.arguments[1])/vault"))
    let secrets = try await KeychainProvider(service: "client", keys: ["token"], vault: vault)
    let settings = PreferencesProvider(DictionaryPreferences(["http.port": "8080"]))
    let config = ConfigReader(providers: [secrets, settings])
    let token = try await config.fetchString(forKey: "token")
    print(try config.requiredInt(forKey: "http.port"), token ?? "no token")
  }
}
