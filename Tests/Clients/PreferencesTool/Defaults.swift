internal import Foundation
internal import Prephirences

extension PreferencesTool {
  /// Sets a literal `nil` in every possible way.
  static func literalNil(_ defaults: UserDefaults) {
    let preferences: any MutablePreferencesType = defaults
    let setters: [() -> Void] = [
      { defaults.set(nil, forKey: "k") }, { defaults["k"] = nil }, { defaults.k = nil },
      { defaults.set(objectToArchive: nil, forKey: "k") },
      { defaults["k"] = Int??.some(nil) as Any }, { defaults[.AppleLanguages] = nil },
      { preferences.set(nil, forKey: "k") }, { preferences["k"] = nil }, { preferences.k = nil },
      { preferences.set(nil as URL?, forKey: "k") },
      { preferences.set(dictionary: ["k": Int?.none as Any]) },
      { preferences.set(objects: [Int?.none as Any], forKeys: ["k"]) },
      { preferences.removeObject(forKey: "k") },
      { defaults[PreferenceSerializable<String?>(rawValue: "k")] = nil },
      { defaults.set(nil, rawRepresentableKey: UserDefaults.Keys.AppleLocale) },
    ]
    for (number, set) in setters.enumerated() {
      defaults["k"] = 1
      defaults["AppleLanguages"] = 1
      defaults["AppleLocale"] = 1
      set()
      let keys = ["k", "AppleLanguages", "AppleLocale"]
      expect(keys.contains { defaults[$0] == nil }, "setter \(number) removed nothing")
      expect(defaults.lastPreferencesError == nil, "setter \(number) failed")
    }
  }

  /// Sets values that would stop the process if they were passed to `UserDefaults`.
  static func refuse(_ defaults: UserDefaults) {
    let values: [Any] = [
      1...2, (1, 2), NSObject(), [1...2], ["a": 1...2], [1: 2], [Int?.none], NSNull(),
      [NSNull()], CGRect.zero, Set([1]), { 1 }, Int.self, UUID.self,
      ["CF$UID": 1], [["CF$UID": 1.5]], ["\u{feff}a": 1],
    ]
    for value in values {
      defaults["k"] = "old"
      defaults["k"] = value
      expect(defaults["k"] as? String == "old", "\(type(of: value)) was stored")
      expect(defaults.lastPreferencesError?.code == .unstorable, "\(type(of: value)): no error")
      let isThrown = (try? defaults.save(["k": value, "other": 1])) == nil
      expect(isThrown && defaults["other"] == nil, "\(type(of: value)): a part was stored")
    }
    for key in ["CF$UID", "\u{feff}k"] {
      defaults[key] = 1
      expect(defaults[key] == nil, "the key \(key.debugDescription) was stored")
      expect(defaults.lastPreferencesError?.code == .unstorable, "\(key): no error")
    }
    defaults["k"] = CGFloat(1.5)
    expect(defaults["k"] as? Double == 1.5 && defaults.lastPreferencesError == nil, "CGFloat")
    defaults["k"] = NSDecimalNumber(value: 1.5)
    expect(defaults["k"] as? Decimal == 1.5, "NSDecimalNumber")
    defaults.set(objectToArchive: 1...2, forKey: "k")
    expect(defaults["k"] as? Decimal == 1.5, "an archive of what can't be archived")
    defaults.set(objectToArchive: ["a": Date(timeIntervalSinceReferenceDate: 1.5)], forKey: "k")
    let object = defaults.unarchiveObject(forKey: "k") as? [String: Date]
    expect(object?["a"]?.timeIntervalSinceReferenceDate == 1.5, "an archive")
  }
}
