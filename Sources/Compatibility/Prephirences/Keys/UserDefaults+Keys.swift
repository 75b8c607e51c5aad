public import Foundation
internal import PrephirencesSystem

extension UserDefaults {
  /// Keys that Apple's systems use in user defaults.
  public enum Keys: PreferenceKey, CaseIterable, Sendable {
    case AppleKeyboards, AppleKeyboardsExpanded, AddingEmojiKeybordHandled,
      ApplePasscodeKeyboards, AppleLanguages, AppleLocale, AppleITunesStoreItemKinds,
      AppleLanguagesDidMigrate, NSInterfaceStyle, NSLanguages
  }
}

extension MutablePreferencesType {
  /// The value of a key; setting `nil` removes the key.
  ///
  /// - Parameter key: The key.
  public subscript(key: UserDefaults.Keys) -> PreferenceObject? {
    get { self[key.rawValue] }
    nonmutating set { self[key.rawValue] = newValue }
  }
}

private let userDefaultsKeySeparator = PosixMutex(".")

/// The separator between the parts of a compound key; a dot by default.
public var UserDefaultsKeySeparator: String {
  get { userDefaultsKeySeparator.withLock(\.self) }
  set { userDefaultsKeySeparator.withLock { $0 = newValue } }
}
