import Foundation
import Palau
import Prephirences
import SwiftyUserDefaults
import TypedDefaults

// SwiftyUserDefaults: the connection

// swift-format-ignore: NeverForceUnwrap
let shared = UserDefaults(suiteName: "group.com.example.notes")!
var Defaults = DefaultsAdapter(defaults: shared, keyStore: DefaultsKeys())

enum LogLevel: String, DefaultsSerializable { case debug, info, error }

struct Limits: Codable, DefaultsSerializable {
  var requests: Int
  var seconds: Double
}

extension DefaultsKeys {
  var serverURL: DefaultsKey<URL?> { .init("serverURL") }
  var launchCount: DefaultsKey<Int> { .init("launchCount", defaultValue: 0) }
  var recentHosts: DefaultsKey<[String]> { .init("recentHosts", defaultValue: []) }
  var logLevel: DefaultsKey<LogLevel> { .init("logLevel", defaultValue: .info) }
  var limits: DefaultsKey<Limits?> { .init("limits") }
}

// Palau: the pages

let tooMany: (Int?) -> Bool = { ($0 ?? 0) > 100 }

extension PalauDefaults {
  static var pageSize: PalauDefaultsEntry<Int> {
    get { value("pageSize").whenNil(use: 20).ensure(when: tooMany, use: 100) }
    set {}
  }
  static var title: PalauDefaultsEntry<NSString> {
    get { value("title") }
    set {}
  }
  static var tags: PalauDefaultsArrayEntry<String> {
    get { value("tags") }
    set {}
  }
}

// TypedDefaults: the synchronization

struct SyncConfig: DefaultConvertible {
  static let key = "SyncConfig"
  var isEnabled: Bool
  var minutes: Int

  init?(_ object: Any) {
    guard let fields = object as? [String: Any] else { return nil }
    isEnabled = fields["enabled"] as? Bool ?? false
    minutes = fields["minutes"] as? Int ?? 15
  }

  func serialize() -> Any { ["enabled": isEnabled, "minutes": minutes] }
}

final class Synchronization {
  lazy var config: AnyStore<SyncConfig> = AnyStore(PersistentStore<SyncConfig>())
}

// Prephirences: everything else

struct Options {
  @MutablePreference(preferences: UserDefaults.standard, key: "lastSync") var lastSync: Date?
  @MutablePreference(preferences: UserDefaults.standard, key: "quota") var quota: UInt64?
}

let all: MutableCompositePreferences = [
  UserDefaults.standard, Bundle.main, DictionaryPreferences(["port": 443]),
]
