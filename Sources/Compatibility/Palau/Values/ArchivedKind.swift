internal import Foundation
internal import Prephirences

/// Objects that are stored as they are if stores hold them, else as archives.
///
/// Palau for Apple's systems archives all of them, so archives are read for each.
struct ArchivedKind<Value>: PalauKind {
  func value(_ key: String, in defaults: NSUD) -> Value? {
    defaults.preferenceObject(forKey: key).flatMap(Self.object)
  }

  func values(_ key: String, in defaults: NSUD) -> [Value]? {
    let stored = defaults.preferenceObject(forKey: key)
    // An array as a whole may be archived, too.
    if let archive = stored as? Data {
      return PreferenceArchive.unarchive(archive) as? [Value]
    }
    return (stored as? [Any])?.compactMap(Self.object)
  }

  func set(_ value: Value, _ key: String, in defaults: NSUD) {
    guard let form = Self.form(value) else { return refuse(key, in: defaults) }
    defaults.setPreference(form, forKey: key)
  }

  func set(values: [Value], _ key: String, in defaults: NSUD) {
    let forms = values.compactMap(Self.form)
    guard forms.count == values.count else { return refuse(key, in: defaults) }
    defaults.setPreference(forms as Any?, forKey: key)
  }

  private func refuse(_ key: String, in defaults: NSUD) {
    defaults.didRefuse(
      PreferencesError(
        .unstorable,
        "the value of the key '\(key)' is of type \(Value.self), and it, or an object in it, cannot be"
          + " archived: declare its class outside other types, and not as private or generic"),
      forKey: key)
  }

  private static func form(_ value: Value) -> Any? {
    // The value itself, because a store may have more types than a property list.
    (try? PropertyListForm.encode(value)) != nil ? value : PreferenceArchive.archive(value)
  }

  private static func object(_ stored: Any) -> Value? {
    if let object = (stored as AnyObject) as? Value { return object }
    return (stored as? Data).flatMap(PreferenceArchive.unarchive) as? Value
  }
}
