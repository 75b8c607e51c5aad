/// Stores values as they are.
package struct PlainTransformation: PreferenceTransformation {
  package init() {}

  package func reverseTransformedValue(_ value: PreferenceObject?) -> Any? { value }

  package func transformedValue(_ value: Any?) -> PreferenceObject? { value }
}

/// Changes values when they are read, and stores them as another transformation does.
struct ReadingTransformation<Value>: PreferenceTransformation {
  let base: any PreferenceTransformation
  let change: (Value?) -> Value?

  func reverseTransformedValue(_ value: PreferenceObject?) -> Any? {
    change(PreferenceCast.cast(base.reverseTransformedValue(value)))
  }

  func transformedValue(_ value: Any?) -> PreferenceObject? { base.transformedValue(value) }

  func get<T>(_ key: PreferenceKey, from preferences: any PreferencesType) -> T? {
    PreferenceCast.cast(change(base.get(key, from: preferences)))
  }

  func set<T>(_ key: PreferenceKey, value: T?, to preferences: any MutablePreferencesType) {
    base.set(key, value: value, to: preferences)
  }
}
