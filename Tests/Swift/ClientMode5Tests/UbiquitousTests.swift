// A program in Swift 5 mode, with the import of its platform's Foundation and one more.
import Foundation
import PrephirencesShared
import Testing

var cloud = NSUbiquitousKeyValueStore.default

class Volume {
  var observer: NSObjectProtocol?
  var changedKeys: [String] = []

  func begin(_ store: NSUbiquitousKeyValueStore) {
    observer = NotificationCenter.default.addObserver(
      forName: NSUbiquitousKeyValueStore.didChangeExternallyNotification, object: store, queue: nil
    ) { [weak self] notification in
      guard let userInfo = notification.userInfo else { return }
      guard let reason = userInfo[NSUbiquitousKeyValueStoreChangeReasonKey] as? Int else { return }
      guard
        reason == NSUbiquitousKeyValueStoreServerChange
          || reason == NSUbiquitousKeyValueStoreInitialSyncChange
      else { return }
      self?.changedKeys += userInfo[NSUbiquitousKeyValueStoreChangedKeysKey] as? [String] ?? []
    }
  }
}

@Suite("A program in Swift 5 mode that uses the store of iCloud's name")
struct UbiquitousTests {
  @Test func literalsFindOneOverload() {
    let store = NSUbiquitousKeyValueStore(
      preferences: SharedPreferences(suiteName: "mode5.\(UUID().uuidString)"))
    store.set(1, forKey: "integer")
    store.set(true, forKey: "truth")
    store.set([], forKey: "array")
    store.set([:], forKey: "dictionary")
    store.set(nil, forKey: "nothing")
    store.set("text", forKey: "text")
    store.set(2.5, forKey: "double")
    store.set(["a", 1], forKey: "mixed")
    #expect(store.longLong(forKey: "integer") == 1)
    #expect(store.bool(forKey: "truth"))
    #expect(store.array(forKey: "array")?.count == 0)
    #expect(store.dictionary(forKey: "dictionary")?.count == 0)
    #expect(store.object(forKey: "nothing") == nil)
    #expect(store.double(forKey: "double") == 2.5)
    let volume = Volume()
    volume.begin(store)
    store.set(3 as Any, forKey: "own")
    #expect(volume.changedKeys == [])
    volume.observer.map(NotificationCenter.default.removeObserver)
    store.clearAll()
    store.synchronize()
  }
}
