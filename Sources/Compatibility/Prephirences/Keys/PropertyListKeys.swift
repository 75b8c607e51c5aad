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
  ///
  /// - Parameter key: The key.
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
  ///
  /// - Parameter key: The key.
  public subscript(key: LaunchServicesKeys) -> PreferenceObject? { self[key.rawValue] }
}
