public import Foundation
internal import PrephirencesSystem

// The names are from Apple's documentation of information property lists.

/// Core Foundation's keys in the information property list of a bundle.
///
/// All are available on every system, so that code for one system compiles on others.
public enum CoreFoundationKeys: PreferenceKey, CaseIterable, Sendable {
  case CFBundleAllowMixedLocalizations, CFBundleDevelopmentRegion, CFBundleDisplayName,
    CFBundleDocumentTypes, CFBundleExecutable, CFBundleIconFile, CFBundleIcons,
    CFBundleIdentifier, CFBundleInfoDictionaryVersion, CFBundleLocalizations, CFBundleName,
    CFBundlePackageType, CFBundleShortVersionString, CFBundleSignature, CFBundleSpokenName,
    CFBundleURLTypes, CFBundleVersion, DTXcode, DTXcodeBuild, DTCompiler, DTPlatformBuild,
    DTPlatformName, DTPlatformVersion, DTSDKBuild, DTSDKName, CFAppleHelpAnchor,
    CFBundleHelpBookFolder, CFBundleHelpBookName, CFPlugInDynamicRegistration,
    CFPlugInDynamicRegistrationFunction, CFPlugInFactories, CFPlugInTypes,
    CFPlugInUnloadFunction, CFBundleIconFiles
}

extension PreferencesType {
  /// The value of a key.
  public subscript(key: CoreFoundationKeys) -> PreferenceObject? { self[key.rawValue] }
}

/// Launch Services' keys in the information property list of a bundle.
///
/// All are available on every system, so that code for one system compiles on others.
public enum LaunchServicesKeys: PreferenceKey, CaseIterable, Sendable {
  case LSMinimumSystemVersion, LSRequiresIPhoneOS, LSSupportsOpeningDocumentsInPlace,
    LSApplicationQueriesSchemes, LSApplicationCategoryType, LSArchitecturePriority,
    LSBackgroundOnly, LSEnvironment, LSFileQuarantineEnabled,
    LSFileQuarantineExcludedPathPatterns, LSGetAppDiedEvents,
    LSMinimumSystemVersionByArchitecture, LSMultipleInstancesProhibited,
    LSRequiresNativeExecution, LSUIElement, LSUIPresentationMode, LSVisibleInClassic
}

extension PreferencesType {
  /// The value of a key.
  public subscript(key: LaunchServicesKeys) -> PreferenceObject? { self[key.rawValue] }
}

// The names are from Apple's documentation of information property lists.

/// The keys of iOS in the information property list of a bundle.
public enum IOSKeys: PreferenceKey, CaseIterable, Sendable {
  case MKDirectionsApplicationSupportedModes, NSHealthShareUsageDescription,
    NSHealthUpdateUsageDescription, UIAppFonts, UIApplicationExitsOnSuspend,
    UIApplicationShortcutItems, UIBackgroundModes, UIDeviceFamily, UIFileSharingEnabled,
    UIInterfaceOrientation, UILaunchImageFile, UILaunchImages, UIMainStoryboardFile,
    UINewsstandApp, UIPrerenderedIcon, UIRequiredDeviceCapabilities, UIRequiresPersistentWiFi,
    UIStatusBarHidden, UIStatusBarStyle, UISupportedExternalAccessoryProtocols,
    UISupportedInterfaceOrientations, UIViewControllerBasedStatusBarAppearance,
    UIViewEdgeAntialiasing, UIViewGroupOpacity
}

extension PreferencesType {
  /// The value of a key.
  public subscript(key: IOSKeys) -> PreferenceObject? { self[key.rawValue] }
}

/// The keys of watchOS in the information property list of a bundle.
public enum WatchOSKeys: PreferenceKey, CaseIterable, Sendable {
  case CLKComplicationSupportedFamilies, CLKComplicationPrincipalClass, WKAppBundleIdentifier,
    WKCompanionAppBundleIdentifier, WKExtensionDelegateClassName, WKWatchKitApp
}

extension PreferencesType {
  /// The value of a key.
  public subscript(key: WatchOSKeys) -> PreferenceObject? { self[key.rawValue] }
}

/// The keys of macOS in the information property list of a bundle.
public enum OSXKeys: PreferenceKey, CaseIterable, Sendable {
  case APFileDescriptionKey, APDisplayedAsContainer, APFileDestinationPath, APFileName,
    APFileSourcePath, APInstallAction
}

extension PreferencesType {
  /// The value of a key.
  public subscript(key: OSXKeys) -> PreferenceObject? { self[key.rawValue] }
}

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
