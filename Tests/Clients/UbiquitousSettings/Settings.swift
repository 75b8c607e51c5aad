import Foundation
import PrephirencesShared

/// The settings of a reader application, which follow the person from device to device.
final class ReaderSettings: Sendable {
  static let shared = ReaderSettings()

  enum Keys {
    static let fontSize = "fontSize"
    static let isNight = "night"
    static let lastBook = "lastBook"
    static let position = "position"
    static let bookmarks = "bookmarks"
    static let counts = "counts"
    static let cover = "cover"
    static let opened = "opened"
  }

  private var store: NSUbiquitousKeyValueStore { .default }

  private init() {
    _ = NotificationCenter.default.addObserver(
      forName: NSUbiquitousKeyValueStore.didChangeExternallyNotification,
      object: NSUbiquitousKeyValueStore.default, queue: nil
    ) { notification in
      ReaderSettings.storeDidChange(notification)
    }
    if !NSUbiquitousKeyValueStore.default.synchronize() {
      show("the store cannot be read")
    }
  }

  private static func storeDidChange(_ notification: Notification) {
    guard let info = notification.userInfo,
      let reason = info[NSUbiquitousKeyValueStoreChangeReasonKey] as? Int
    else { return }
    let keys = info[NSUbiquitousKeyValueStoreChangedKeysKey] as? [String] ?? []
    switch reason {
    case NSUbiquitousKeyValueStoreServerChange, NSUbiquitousKeyValueStoreInitialSyncChange:
      for key in keys.sorted() { show("changed: \(key)") }
    case NSUbiquitousKeyValueStoreQuotaViolationChange:
      show("full: \(keys.joined(separator: ","))")
    case NSUbiquitousKeyValueStoreAccountChange:
      show("another account")
    default:
      break
    }
  }

  var fontSize: Double {
    get { store.object(forKey: Keys.fontSize) as? Double ?? 14 }
    set { store.set(newValue, forKey: Keys.fontSize) }
  }

  var isNight: Bool {
    get { store.bool(forKey: Keys.isNight) }
    set { store.set(newValue, forKey: Keys.isNight) }
  }

  var lastBook: String? {
    get { store.string(forKey: Keys.lastBook) }
    set { store.set(newValue, forKey: Keys.lastBook) }
  }

  var position: Int64 {
    get { store.longLong(forKey: Keys.position) }
    set { store.set(newValue, forKey: Keys.position) }
  }

  var bookmarks: [Int] {
    get { store.array(forKey: Keys.bookmarks) as? [Int] ?? [] }
    set { store.set(newValue, forKey: Keys.bookmarks) }
  }

  var counts: [String: Int] {
    get { store.dictionary(forKey: Keys.counts) as? [String: Int] ?? [:] }
    set { store.set(newValue, forKey: Keys.counts) }
  }

  var cover: Data? {
    get { store.data(forKey: Keys.cover) }
    set { store.set(newValue, forKey: Keys.cover) }
  }

  var opened: Date? {
    get { store.object(forKey: Keys.opened) as? Date }
    set { store.set(newValue, forKey: Keys.opened) }
  }

  func reset() {
    for key in store.dictionaryRepresentation.keys { store.removeObject(forKey: key) }
  }
}
