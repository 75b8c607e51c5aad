// swift-format-ignore-file
import Foundation
import Palau
import Prephirences

/// Lets the entries of all samples be in memory; each uses its own keys.
enum SampleDefaults {
  static let memory: MutableDictionaryPreferences = {
    let memory = MutableDictionaryPreferences(dictionary: [:])
    PalauDefaults.defaults = BackedUserDefaults(preferences: memory)
    return memory
  }()
}
