// swift-format-ignore-file
import Foundation
import Prephirences

private enum Key: String { case a }
private enum Side: String { case left }

private func useRawRepresentableKeys(_ preferences: PreferencesType) {
  let _: (Key) -> PreferenceObject? = preferences.object(forKey:)
  let _: (Key) -> Bool = preferences.hasObject(forKey:)
  let _: (Key) -> String? = preferences.string(forKey:)
  let _: (Key) -> [PreferenceObject]? = preferences.array(forKey:)
  let _: (Key) -> PreferencesDictionary? = preferences.dictionary(forKey:)
  let _: (Key) -> Data? = preferences.data(forKey:)
  let _: (Key) -> [String]? = preferences.stringArray(forKey:)
  let _: (Key) -> Int = preferences.integer(forKey:)
  let _: (Key) -> Float = preferences.float(forKey:)
  let _: (Key) -> Double = preferences.double(forKey:)
  let _: (Key) -> Bool = preferences.bool(forKey:)
  let _: (Key) -> URL? = preferences.url(forKey:)
  let _: Side? = preferences.rawRepresentable(forKey: Key.a)
}

private func useRawRepresentableKeys(_ preferences: MutablePreferencesType) {
  let _: (Any?, Key) -> Void = preferences.set(_:rawRepresentableKey:)
  let _: (Int, Key) -> Void = preferences.set(_:rawRepresentableKey:)
  let _: (Float, Key) -> Void = preferences.set(_:rawRepresentableKey:)
  let _: (Double, Key) -> Void = preferences.set(_:rawRepresentableKey:)
  let _: (Bool, Key) -> Void = preferences.set(_:rawRepresentableKey:)
  let _: (URL?, Key) -> Void = preferences.set(_:rawRepresentableKey:)
  let _: (Key) -> Void = preferences.removeObject(forKey:)
  preferences.set(rawValue: Side.left, rawRepresentableKey: Key.a)
}

final class SerializableKeys {
  static let text = PreferenceSerializable<String?>(rawValue: "a")
  static let plainText = PreferenceSerializable<String>(rawValue: "a")
  static let int = PreferenceSerializable<Int?>(rawValue: "a")
  static let plainInt = PreferenceSerializable<Int>(rawValue: "a")
  static let double = PreferenceSerializable<Double?>(rawValue: "a")
  static let plainDouble = PreferenceSerializable<Double>(rawValue: "a")
  static let bool = PreferenceSerializable<Bool?>(rawValue: "a")
  static let plainBool = PreferenceSerializable<Bool>(rawValue: "a")
  static let any = PreferenceSerializable<Any?>(rawValue: "a")
  static let data = PreferenceSerializable<Data?>(rawValue: "a")
  static let plainData = PreferenceSerializable<Data>(rawValue: "a")
  static let date = PreferenceSerializable<Date?>(rawValue: "a")
  static let url = PreferenceSerializable<URL?>(rawValue: "a")
  static let fields = PreferenceSerializable<[String: Any]?>(rawValue: "a")
  static let plainFields = PreferenceSerializable<[String: Any]>(rawValue: "a")
  static let list = PreferenceSerializable<[Any]?>(rawValue: "a")
  static let plainList = PreferenceSerializable<[Any]>(rawValue: "a")
}

func useSerializableKeys(_ preferences: MutablePreferencesType) {
  var preferences = preferences
  preferences[SerializableKeys.text] = preferences[SerializableKeys.text] as String?
  preferences[SerializableKeys.plainText] = preferences[SerializableKeys.plainText] as String
  preferences[SerializableKeys.int] = preferences[SerializableKeys.int] as Int?
  preferences[SerializableKeys.plainInt] = preferences[SerializableKeys.plainInt] as Int
  preferences[SerializableKeys.double] = preferences[SerializableKeys.double] as Double?
  preferences[SerializableKeys.plainDouble] = preferences[SerializableKeys.plainDouble] as Double
  preferences[SerializableKeys.bool] = preferences[SerializableKeys.bool] as Bool?
  preferences[SerializableKeys.plainBool] = preferences[SerializableKeys.plainBool] as Bool
  preferences[SerializableKeys.any] = preferences[SerializableKeys.any] as Any?
  preferences[SerializableKeys.data] = preferences[SerializableKeys.data] as Data?
  preferences[SerializableKeys.plainData] = preferences[SerializableKeys.plainData] as Data
  preferences[SerializableKeys.date] = preferences[SerializableKeys.date] as Date?
  preferences[SerializableKeys.url] = preferences[SerializableKeys.url] as URL?
  preferences[SerializableKeys.fields] = preferences[SerializableKeys.fields] as [String: Any]?
  preferences[SerializableKeys.plainFields] = preferences[SerializableKeys.plainFields] as [String: Any]
  preferences[SerializableKeys.list] = preferences[SerializableKeys.list] as [Any]?
  preferences[SerializableKeys.plainList] = preferences[SerializableKeys.plainList] as [Any]
}

func useKeyEnumerations(_ preferences: PreferencesType, _ mutable: MutablePreferencesType) {
  let _: PreferenceObject? = preferences[CoreFoundationKeys.CFBundleName]
  let _: PreferenceObject? = preferences[.CFBundleVersion]
  let _: PreferenceObject? = preferences[LaunchServicesKeys.LSMinimumSystemVersion]
  let _: PreferenceObject? = preferences[IOSKeys.UIAppFonts]
  let _: PreferenceObject? = preferences[WatchOSKeys.WKWatchKitApp]
  let _: PreferenceObject? = preferences[OSXKeys.APFileName]
  var mutable = mutable
  mutable[UserDefaults.Keys.AppleLanguages] = mutable[UserDefaults.Keys.AppleLanguages]
  let _: [CoreFoundationKeys] = [
    .CFBundleAllowMixedLocalizations, .CFBundleDevelopmentRegion, .CFBundleDisplayName,
    .CFBundleDocumentTypes, .CFBundleExecutable, .CFBundleIconFile, .CFBundleIcons, .CFBundleIdentifier,
    .CFBundleInfoDictionaryVersion, .CFBundleLocalizations, .CFBundleName, .CFBundlePackageType,
    .CFBundleShortVersionString, .CFBundleSignature, .CFBundleSpokenName, .CFBundleURLTypes,
    .CFBundleVersion, .CFAppleHelpAnchor, .CFBundleHelpBookFolder, .CFBundleHelpBookName,
    .CFPlugInDynamicRegistration, .CFPlugInDynamicRegistrationFunction, .CFPlugInFactories, .CFPlugInTypes,
    .CFPlugInUnloadFunction, .CFBundleIconFiles, .DTXcode, .DTXcodeBuild, .DTCompiler, .DTPlatformBuild, .DTPlatformName,
    .DTPlatformVersion, .DTSDKBuild, .DTSDKName,
  ]
  let _: [LaunchServicesKeys] = [
    .LSMinimumSystemVersion, .LSRequiresIPhoneOS, .LSSupportsOpeningDocumentsInPlace,
    .LSApplicationQueriesSchemes, .LSApplicationCategoryType, .LSArchitecturePriority,
    .LSBackgroundOnly, .LSEnvironment, .LSFileQuarantineEnabled, .LSFileQuarantineExcludedPathPatterns,
    .LSGetAppDiedEvents, .LSMinimumSystemVersionByArchitecture, .LSMultipleInstancesProhibited,
    .LSRequiresNativeExecution, .LSUIElement, .LSUIPresentationMode, .LSVisibleInClassic,
  ]
  let _: [IOSKeys] = [
    .MKDirectionsApplicationSupportedModes, .NSHealthShareUsageDescription, .NSHealthUpdateUsageDescription,
    .UIAppFonts, .UIApplicationExitsOnSuspend, .UIApplicationShortcutItems, .UIBackgroundModes,
    .UIDeviceFamily, .UIFileSharingEnabled, .UIInterfaceOrientation, .UILaunchImageFile, .UILaunchImages,
    .UIMainStoryboardFile, .UINewsstandApp, .UIPrerenderedIcon, .UIRequiredDeviceCapabilities,
    .UIRequiresPersistentWiFi, .UIStatusBarHidden, .UIStatusBarStyle,
    .UISupportedExternalAccessoryProtocols, .UISupportedInterfaceOrientations,
    .UIViewControllerBasedStatusBarAppearance, .UIViewEdgeAntialiasing, .UIViewGroupOpacity,
  ]
  let _: [WatchOSKeys] = [
    .CLKComplicationSupportedFamilies, .CLKComplicationPrincipalClass, .WKAppBundleIdentifier,
    .WKCompanionAppBundleIdentifier, .WKExtensionDelegateClassName, .WKWatchKitApp,
  ]
  let _: [OSXKeys] = [
    .APFileDescriptionKey, .APDisplayedAsContainer, .APFileDestinationPath, .APFileName,
    .APFileSourcePath, .APInstallAction,
  ]
  let _: [UserDefaults.Keys] = [
    .AppleKeyboards, .AppleKeyboardsExpanded, .AddingEmojiKeybordHandled, .ApplePasscodeKeyboards,
    .AppleLanguages, .AppleLocale, .AppleITunesStoreItemKinds, .AppleLanguagesDidMigrate,
    .NSInterfaceStyle, .NSLanguages,
  ]
  UserDefaultsKeySeparator = "."
  let _: String = UserDefaultsKeySeparator
}

func useGeometry(_ defaults: MutablePreferencesType) {
  let _: CGRect? = defaults.cgRect(forKey: "a")
  let _: CGSize? = defaults.cgSize(forKey: "a")
  let _: CGPoint? = defaults.cgPoint(forKey: "a")
  defaults.set(CGRect(x: 0, y: 1, width: 2, height: 3), forKey: "a")
  defaults.set(CGSize(width: 2, height: 3), forKey: "a")
  defaults.set(CGPoint(x: 0, y: 1), forKey: "a")
}
