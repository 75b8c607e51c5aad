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
  ///
  /// - Parameter key: The key.
  public subscript(key: IOSKeys) -> PreferenceObject? { self[key.rawValue] }
}

/// The keys of watchOS in the information property list of a bundle.
public enum WatchOSKeys: PreferenceKey, CaseIterable, Sendable {
  case CLKComplicationSupportedFamilies, CLKComplicationPrincipalClass, WKAppBundleIdentifier,
    WKCompanionAppBundleIdentifier, WKExtensionDelegateClassName, WKWatchKitApp
}

extension PreferencesType {
  /// The value of a key.
  ///
  /// - Parameter key: The key.
  public subscript(key: WatchOSKeys) -> PreferenceObject? { self[key.rawValue] }
}

/// The keys of macOS in the information property list of a bundle.
public enum OSXKeys: PreferenceKey, CaseIterable, Sendable {
  case APFileDescriptionKey, APDisplayedAsContainer, APFileDestinationPath, APFileName,
    APFileSourcePath, APInstallAction
}

extension PreferencesType {
  /// The value of a key.
  ///
  /// - Parameter key: The key.
  public subscript(key: OSXKeys) -> PreferenceObject? { self[key.rawValue] }
}
