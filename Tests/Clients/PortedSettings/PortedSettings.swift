import Foundation
import Palau
import Prephirences
import SwiftyUserDefaults
import TypedDefaults

/// The service: prints its settings as one line of JSON each, then changes all of them.
@main
struct PortedSettings {
  static func main() {
    let options = Options()
    let synchronization = Synchronization()
    let config = synchronization.config.get()
    show("serverURL", Defaults.serverURL?.absoluteString)
    show("launchCount", Defaults[\.launchCount])
    show("recentHosts", Defaults.recentHosts.joined(separator: ","))
    show("logLevel", Defaults.logLevel.rawValue)
    show("limits", Defaults.limits.map { "\($0.requests) in \($0.seconds)" })
    show("pageSize", PalauDefaults.pageSize.value)
    show("title", PalauDefaults.title.value)
    show("tags", PalauDefaults.tags.value?.joined(separator: ","))
    show("sync", config.map { "\($0.isEnabled) \($0.minutes)" })
    show("lastSync", options.lastSync?.timeIntervalSinceReferenceDate)
    show("quota", options.quota)
    show("port", all().integer(forKey: "port"))

    Defaults.serverURL = URL(string: "https://notes.example.com/api?v=2")
    Defaults[\.launchCount] += 1
    Defaults.recentHosts.append("host\(Defaults.launchCount)")
    Defaults.logLevel = .debug
    Defaults.limits = Limits(requests: 10, seconds: 1.5)
    PalauDefaults.pageSize.value = 500
    PalauDefaults.title.value = "Notes"
    PalauDefaults.tags.value = (PalauDefaults.tags.value ?? []) + ["new"]
    if var config = config ?? SyncConfig([:] as [String: Any]) {
      config.isEnabled = true
      config.minutes += 1
      synchronization.config.set(config)
    }
    options.lastSync = Date(timeIntervalSinceReferenceDate: 1.25)
    options.quota = .max
    all()["port"] = 8443
  }

  static func show(_ name: String, _ value: (any CustomStringConvertible)?) {
    print("\(name): \(value?.description ?? "none")")
  }
}
